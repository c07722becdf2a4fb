import { ConfigError, HoldfastError } from '@holdfast/domain';
import type { HoldfastEvent, HoldfastListener } from './event-map.ts';
import type { RegisteredHandler } from './handler-of.ts';
import { internalsOf } from './internals.ts';
import type { HandlerFor, JobDefinition } from './job-definition.ts';
import { requireJob } from './job-draft.ts';
import type { Duration } from './job-options.ts';
import { durationMs, requireFunction } from './check-options.ts';
import { leaveExitCode } from './leave-exit-code.ts';
import type { RegisteredTransaction } from './register.ts';
import type { RunMiddleware } from './run-middleware.ts';
import { runUntilStopped } from './run-until-stopped.ts';
import { startWorker } from './start-worker.ts';
import type { RunningWorker } from './start-worker.ts';
import { readWorkerOptions } from './worker-options.ts';
import type { WorkerOptions } from './worker-options.ts';

/**
 * Runs the jobs of some types. Make it with `createWorker`.
 *
 * @typeParam Tx the transaction of the application's database library
 */
export class Worker<Tx = RegisteredTransaction> implements AsyncDisposable {
  readonly #options: WorkerOptions<Tx>;
  readonly #handlers = new Map<string, RegisteredHandler<Tx>>();
  readonly #middleware: RunMiddleware<Tx>[] = [];
  readonly #givingUp = new AbortController();
  #starting: Promise<RunningWorker> | undefined;
  #stopping: Promise<void> | undefined;
  #release: () => void = () => undefined;
  #onStopped: () => void = () => undefined;
  #onFailed: (error: unknown) => void = () => undefined;
  readonly #stopped: Promise<void>;

  /** @throws OptionsInvalidError, also without a `Holdfast`; ConfigError when two jobs have one type */
  constructor(options: WorkerOptions<Tx>) {
    readWorkerOptions(options);
    internalsOf(options.holdfast);
    this.#options = options;
    this.#stopped = new Promise((resolve, reject) => {
      this.#onStopped = resolve;
      this.#onFailed = reject;
    });
    this.#stopped.catch(() => undefined);
    for (const job of options.jobs ?? []) {
      if (job.run === undefined) continue;
      // A `run` that takes the context of another transaction than this worker's does not compile in `jobs`.
      const run = job.run.bind(job) as unknown as RegisteredHandler<Tx>['run'];
      const { isolate, module } = job.defaults;
      const threadModule = isolate === 'thread' ? module : undefined;
      const { type, schema, version, upgrades, defaults } = job;
      this.#register({ type, schema, version, upgrades, defaults, run, threadModule });
    }
  }

  /**
   * Gives a job its handler; of one that is named by its type, nothing checks the payload, whose version is 1.
   *
   * @throws OptionsInvalidError; ConfigError when the type has one already, or the worker has started
   */
  handle<Job extends JobDefinition | string>(job: Job, run: HandlerFor<Job, Tx>): this {
    requireJob('handle', job);
    const { type, schema, version, upgrades, defaults } = partsOf(job);
    requireFunction(`handle("${type}")`, 'handler', run);
    if (defaults.isolate === 'thread') {
      throw new ConfigError(
        `createWorker: "${type}" runs in a thread, so its handler must be the run of its definition`,
      );
    }
    const parts = { type, schema, version, upgrades, defaults, threadModule: undefined };
    this.#register({ ...parts, run });
    return this;
  }

  /** Adds a middleware around every run; the first one is the outermost. @throws OptionsInvalidError, ConfigError */
  use(middleware: RunMiddleware<Tx>): this {
    requireFunction('use', 'middleware', middleware);
    this.#refuseWhenStarted();
    this.#middleware.push(middleware);
    return this;
  }

  /**
   * Listens to what this process does; the same as `holdfast.on`.
   *
   * @returns a function that ends the listening
   * @throws OptionsInvalidError
   */
  on<Event extends HoldfastEvent>(event: Event, listener: HoldfastListener<Event>): () => void {
    return internalsOf(this.#options.holdfast).events.on(event, listener);
  }

  /**
   * Begins to claim and run jobs. Resolves when the worker is registered in the database, for which it waits about a
   * minute while the database cannot be reached; the logger is told of each try.
   *
   * @throws ConfigError when a job has no handler; HoldfastError `database_unavailable` after that minute, at once
   * `database_refused`, `schema_outdated`, `schema_too_new` or `project_not_found`, and `shutdown` when it is stopped
   * meanwhile
   */
  start(): Promise<void> {
    const starting = this.#startOnce();
    // Who stops it knows why it has not started, and may have left its start to itself.
    const forgive = (): void => void starting.catch(() => undefined);
    this.#givingUp.signal.addEventListener('abort', forgive, { once: true });
    return starting;
  }

  /**
   * Claims no more, waits for what runs, gives the rest back, and resolves when all that is stored; safe to call twice.
   *
   * @param options.timeout how long to wait for running handlers, instead of `drainTimeout`
   */
  stop(options: { readonly timeout?: Duration | undefined } = {}): Promise<void> {
    this.#stopping ??= this.#stop(options.timeout);
    return this.#stopping;
  }

  /**
   * The main program of a worker process: starts, and stops at SIGTERM or SIGINT. When it is over, `holdfast` is closed
   * too, so that the process can end. When it cannot start, `process.exitCode` says why as for the processes of the
   * server: 69 for a database that cannot be reached or has another schema, 78 for what has to be set right.
   *
   * @throws as `start`, but for a stop
   */
  async run(): Promise<void> {
    try {
      await runUntilStopped({ stop: () => this.stop(), stopped: this.#startAndWait() });
    } finally {
      await this.#options.holdfast.close();
    }
  }

  /** As `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startOnce(): Promise<void> {
    if (this.#stopping !== undefined) throw new ConfigError('createWorker: it has stopped');
    this.#starting ??= this.#start();
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      this.#release();
      throw error;
    }
  }

  async #startAndWait(): Promise<void> {
    try {
      await this.start();
    } catch (error) {
      if (!this.#givingUp.signal.aborted) leaveExitCode(error);
      if (!(error instanceof HoldfastError && error.code === 'shutdown')) throw error;
    }
    await this.#stopped;
  }

  #register(handler: RegisteredHandler<Tx>): void {
    this.#refuseWhenStarted();
    if (this.#handlers.has(handler.type)) {
      throw new ConfigError(`createWorker: the type "${handler.type}" has a handler already`);
    }
    this.#handlers.set(handler.type, handler);
  }

  #refuseWhenStarted(): void {
    if (this.#starting === undefined) return;
    throw new ConfigError('createWorker: handlers and middleware are added before the start');
  }

  #start(): Promise<RunningWorker> {
    const missing = (this.#options.jobs ?? []).filter(({ type }) => !this.#handlers.has(type));
    if (missing.length > 0 || this.#handlers.size === 0) {
      const types = missing.map(({ type }) => `"${type}"`).join(', ');
      const problem = types === '' ? 'there are no jobs' : `no handler for ${types}`;
      return Promise.reject(new ConfigError(`createWorker: ${problem}`));
    }
    const { connection } = internalsOf(this.#options.holdfast);
    this.#release = connection.beforeClose(() => this.stop());
    return startWorker({
      options: this.#options,
      handlers: [...this.#handlers.values()],
      middleware: this.#middleware,
      signal: this.#givingUp.signal,
      onFatal: () => {
        this.stop().catch(() => undefined);
      },
    });
  }

  async #stop(timeout: Duration | undefined): Promise<void> {
    this.#givingUp.abort();
    try {
      const running = await this.#starting?.catch(() => undefined);
      await running?.stop(timeout === undefined ? undefined : durationMs(timeout));
      this.#onStopped();
    } catch (error) {
      this.#onFailed(error);
      throw error;
    } finally {
      this.#release();
    }
  }
}

/** What is known of a job; of one that is named, nothing but its type. */
function partsOf(
  job: JobDefinition | string,
): Pick<JobDefinition, 'type' | 'schema' | 'version' | 'upgrades' | 'defaults'> {
  if (typeof job !== 'string') return job;
  return { type: job, schema: undefined, version: 1, upgrades: {}, defaults: {} };
}

/**
 * Makes a worker: it runs the jobs whose handlers it is given, on the engine that the worker processes of Holdfast run
 * too. Nothing happens before `start` or `run`.
 *
 * @throws OptionsInvalidError, ConfigError
 * @since 0.1.0
 */
export function createWorker<Tx = RegisteredTransaction>(options: WorkerOptions<Tx>): Worker<Tx> {
  return new Worker(options);
}
