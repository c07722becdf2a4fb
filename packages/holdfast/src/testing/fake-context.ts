import { HoldfastError, LeaseLostError, uuidV7 } from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { toRelease } from '@holdfast/worker';
import type { JobContext as EngineContext, JobInfo, Stored } from '@holdfast/worker';
import type { BatchAccess } from '../batches/job-batch.ts';
import { createJobContext } from '../create-job-context.ts';
import type { JobContext } from '../job-context.ts';
import type { JobDefinition } from '../job-definition.ts';
import type { RegisteredTransaction } from '../register.ts';
import { FakeHoldfast } from './fake-holdfast.ts';

/** A line that a handler logged. */
export interface FakeLogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** What a parent of the job left. */
export interface FakeParent {
  readonly job: JobDefinition | string;
  readonly result?: unknown;
  /** Default `completed`. */
  readonly status?: JobStatus | undefined;
}

/** What the context says; all of it has a default. */
export interface FakeContextOptions<Tx = RegisteredTransaction> {
  /** What is to be said of the job. */
  readonly job?: Partial<JobInfo> | undefined;
  /** Default 1. */
  readonly attempt?: number | undefined;
  /** What the jobs that this one waited for have left, in the order in which they were made. */
  readonly parents?: readonly FakeParent[] | undefined;
  /** The results of steps that an earlier attempt has run, by their names. */
  readonly steps?: Readonly<Record<string, unknown>> | undefined;
  /** What `ctx.transaction` gives to its function. */
  readonly tx?: Tx | undefined;
  /** True: the lease is gone, so that `transaction` and `assertLease` throw. Default false. */
  readonly leaseLost?: boolean | undefined;
  /** Takes what the handler enqueues and emits; default: one of its own. */
  readonly holdfast?: FakeHoldfast<Tx> | undefined;
}

/** A context that keeps what the handler does with it. */
export interface FakeContext<Tx = RegisteredTransaction> extends JobContext<Tx> {
  readonly logs: readonly FakeLogLine[];
  /** Each report of `ctx.progress`, in their order. */
  readonly progressReports: readonly { readonly percent: number; readonly note?: string }[];
  /** The names of the steps that ran, in their order; those of an earlier attempt are not among them. */
  readonly ranSteps: readonly string[];
  /** How many transactions of `ctx.transaction` were committed. */
  readonly commitCount: number;
  /** What was enqueued and emitted: `await ctx.holdfast.expectEnqueued(job, payload)`. */
  readonly holdfast: FakeHoldfast<Tx>;
  /** Aborts `ctx.signal`. */
  abort(reason?: unknown): void;
}

/**
 * Makes a context for a handler that is called by a test itself: `await sendInvoice.run(payload, fakeContext())`.
 *
 * @since 0.1.0
 */
export function fakeContext<Tx = RegisteredTransaction>(
  options: FakeContextOptions<Tx> = {},
): FakeContext<Tx> {
  const { holdfast = new FakeHoldfast<Tx>(), parents = [] } = options;
  const engine = new FakeEngineContext(options);
  const context = createJobContext<Tx>(engine, {
    enqueue: holdfast.enqueue.bind(holdfast),
    emit: holdfast.emit.bind(holdfast),
    relations: { batches: noBatches(), readParents: () => Promise.resolve(parents.map(toParent)) },
  });
  // Onto the context, whose getters are to stay.
  return Object.defineProperties(context, {
    holdfast: { value: holdfast, enumerable: true },
    logs: { get: () => engine.logs, enumerable: true },
    progressReports: { get: () => engine.progressReports, enumerable: true },
    ranSteps: { get: () => engine.ranSteps, enumerable: true },
    commitCount: { get: () => engine.commitCount, enumerable: true },
    abort: { value: engine.abort, enumerable: true },
  }) as FakeContext<Tx>;
}

class FakeEngineContext<Tx> implements EngineContext {
  readonly job: JobInfo;
  readonly attempt: number;
  readonly logs: FakeLogLine[] = [];
  readonly progressReports: { readonly percent: number; readonly note?: string }[] = [];
  readonly ranSteps: string[] = [];
  commitCount = 0;
  readonly #options: FakeContextOptions<Tx>;
  readonly #controller = new AbortController();
  readonly #stepNames = new Set<string>();

  constructor(options: FakeContextOptions<Tx>) {
    this.#options = options;
    this.attempt = options.attempt ?? 1;
    this.job = { ...defaultJob(this.attempt), ...options.job };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly log = {
    debug: this.#logAt('debug'),
    info: this.#logAt('info'),
    warn: this.#logAt('warn'),
    error: this.#logAt('error'),
  };

  readonly abort = (reason?: unknown): void => {
    this.#controller.abort(reason);
  };

  progress(percent: number, note?: string): void {
    this.progressReports.push({ percent, ...(note === undefined ? {} : { note }) });
  }

  release(delay: string | number, reason?: string) {
    return toRelease(delay, reason);
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- as the engine has it
  async transaction<GivenTx, Result>(run: (tx: GivenTx) => Promise<Result>): Promise<Result> {
    await this.assertLease();
    const { tx } = this.#options;
    if (tx === undefined) {
      throw new TypeError('The handler opens a transaction: give fakeContext the tx that it gets');
    }
    // The two are the same: the context says so to its handler.
    const result = await run(tx as unknown as GivenTx);
    this.commitCount += 1;
    return result;
  }

  assertLease(): Promise<void> {
    return this.#options.leaseLost === true
      ? Promise.reject(new LeaseLostError())
      : Promise.resolve();
  }

  async step<Result>(name: string, run: () => Result | Promise<Result>): Promise<Stored<Result>> {
    if (this.#stepNames.has(name)) {
      throw new HoldfastError(`The step "${name}" ran before in this execution`, {
        code: 'step_repeated',
      });
    }
    this.#stepNames.add(name);
    const { steps = {} } = this.#options;
    // As with real steps, the handler knows what its earlier self has kept.
    if (Object.hasOwn(steps, name)) return stored(steps[name]) as Stored<Result>;
    const result = await run();
    this.ranSteps.push(name);
    return stored(result) as Stored<Result>;
  }

  #logAt(level: FakeLogLine['level']) {
    return (message: string, fields?: Readonly<Record<string, unknown>>): void => {
      this.logs.push({ level, message, fields });
    };
  }
}

function defaultJob(attempt: number): JobInfo {
  const nowMs = systemClock.nowMs();
  return {
    ...{ id: uuidV7(nowMs), type: 'fake', queue: 'default', projectId: uuidV7(nowMs) },
    ...{ executionSeq: attempt, createdAt: new Date(nowMs), maxAttempts: 5 },
    ...{ tags: [], metadata: undefined, batchId: undefined, payloadVersion: 1 },
  };
}

function toParent({ job, result, status = 'completed' }: FakeParent) {
  const type = typeof job === 'string' ? job : job.type;
  const state = status === 'completed' ? ('satisfied' as const) : ('broken' as const);
  return { id: uuidV7(systemClock.nowMs()), type, status, state, result: stored(result) };
}

/** What a value is after it was stored. */
function stored(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** What is in a batch only a database knows. */
function noBatches<Tx>(): BatchAccess<Tx> {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new HoldfastError('A fake context has no batch; test this with createTestHoldfast', {
        code: 'batch_not_found',
      }),
    );
  return { get: refuse, add: refuse };
}
