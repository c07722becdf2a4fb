import {
  countLeasedJobs,
  createQueue,
  deleteQueue,
  findQueue,
  listQueues,
  pauseQueue,
  purgeQueue,
  readQueue,
  resolveQueues,
  resumeQueue,
  updateQueue,
} from '@holdfast/database';
import type { QueueJobDefaults, QueueView } from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import { OptionCheck, requireName } from './check-options.ts';
import type { OpenConnection } from './connection.ts';
import type { Internals } from './internals.ts';
import { readJobFields } from './job-fields.ts';
import type { Backoff, Duration, RetryOptions } from './job-options.ts';
import { completeRetry } from './read-retry.ts';
import { callWith } from './shown.ts';

/**
 * The settings of a queue; what is not said stays as it is. All but `concurrency` are for jobs that say nothing themselves,
 * and whose definition says nothing.
 */
export interface QueueOptions extends Pick<RetryOptions, 'maxAttempts' | 'retry'> {
  /** How many of its jobs may run at once in all workers together; `null` for no limit. */
  readonly concurrency?: number | null | undefined;
  readonly timeout?: Duration | undefined;
  readonly backoff?: Backoff | undefined;
  /** As that of a job; `null` for no end. */
  readonly retryUntil?: RetryOptions['retryUntil'] | null;
  /** As that of a job; `null` for no limit. */
  readonly maxExceptions?: number | null | undefined;
}

/** Why and how long a queue is paused. */
export interface PauseOptions {
  readonly reason?: string | undefined;
  /** When it resumes by itself; without one, when somebody resumes it. */
  readonly until?: Date | undefined;
  /** Who paused it, for people; default `sdk`. */
  readonly by?: string | undefined;
}

/**
 * How far a drain is.
 *
 * @since 0.1.0
 */
export interface DrainProgress {
  readonly queue: Queue;
  /** How many of its jobs workers still have. */
  readonly remaining: number;
  /** None. */
  readonly drained: boolean;
}

/**
 * What a purge came to.
 *
 * @since 0.1.0
 */
export interface PurgeResult {
  /** How many jobs were cancelled. */
  readonly purged: number;
}

/** A queue with its settings, defaults included, and its counts. Durations in milliseconds. */
export type Queue = Omit<QueueView, 'id' | 'revision' | 'jobDefaults' | 'firstInLine'>;

const optionNames = [
  ...['concurrency', 'maxAttempts', 'timeout', 'backoff'],
  ...['retry', 'retryUntil', 'maxExceptions'],
];
const pageSize = 200;

/** The queues of a project. A queue comes into being with its first job, too. */
export class Queues {
  readonly #internals: Internals;

  constructor(internals: Internals) {
    this.#internals = internals;
  }

  /**
   * Makes a queue, or changes its settings.
   *
   * @throws OptionsInvalidError
   */
  async upsert(name: string, options: QueueOptions = {}): Promise<Queue> {
    const read = readOptions(name, options);
    return this.#internals.connection.useWithRetry(async (open) => {
      const { database, projectId } = open;
      const key = { projectId, name };
      const before = await readQueue(database, key);
      const settings = {
        ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
        jobDefaults: defaultsOf(read, before?.jobDefaults ?? {}),
      };
      if (before === undefined) await createQueue(database, { ...key, settings });
      // Also after a create that another process was faster with.
      await updateQueue(database, { ...key, settings });
      return requireQueue(open, name);
    });
  }

  /** Pauses a queue: nothing of it is claimed from now on, and what runs goes on. A new queue is made for it. */
  async pause(name: string, options: PauseOptions = {}): Promise<void> {
    await this.#pause({ call: 'queues.pause', name, options }, () => Promise.resolve());
  }

  /**
   * Pauses a queue as `pause` does, and tells how many of its jobs still run; call it again to follow them.
   *
   * @throws OptionsInvalidError
   * @since 0.1.0
   */
  async drain(name: string, options: PauseOptions = {}): Promise<DrainProgress> {
    return this.#pause({ call: 'queues.drain', name, options }, async (open) => {
      const view = await requireView(open, name);
      const remaining = await countLeasedJobs(open.database, view.id);
      return { queue: toQueue(view), remaining, drained: remaining === 0 };
    });
  }

  async #pause<Result>(
    { call, name, options }: Pause,
    answer: (open: OpenConnection) => Promise<Result>,
  ): Promise<Result> {
    const check = new OptionCheck(callWith(call, name));
    check.name('the name', name);
    if (!check.names(options, ['reason', 'until', 'by'])) check.done();
    check.words('reason', options.reason);
    check.words('by', options.by);
    const until = check.instant('until', options.until);
    check.done();
    const { connection, events } = this.#internals;
    const result = await connection.useWithRetry(async (open) => {
      const { database, projectId } = open;
      await resolveQueues(database, projectId, [name]);
      const { reason, by = 'sdk' } = options;
      await pauseQueue(database, { projectId, name, by, reason, until });
      return answer(open);
    });
    events.emit('QueuePaused', { queue: name, reason: options.reason });
    return result;
  }

  /**
   * Cancels every job of a queue that has not started, with the reason `purged`; what runs goes on. Those that are enqueued
   * meanwhile stay.
   *
   * @throws HoldfastError `queue_not_found`; OptionsInvalidError
   * @since 0.1.0
   */
  async purge(name: string): Promise<PurgeResult> {
    requireName('queues.purge', name);
    return this.#internals.connection.useOnce(async ({ database, projectId, settler }) => {
      const queue = await findQueue(database, { projectId, name });
      if (queue === undefined) throw notFound(name);
      const request = { projectId, queueId: queue.id, reason: 'purged' };
      const purged = await purgeQueue(database, request);
      settler.kick();
      return { purged };
    });
  }

  /**
   * Deletes a queue with its settings. It comes into being again with its next job.
   *
   * @throws HoldfastError `queue_not_found`, `queue_not_empty` while it holds jobs, dead letters too; OptionsInvalidError
   * @since 0.1.0
   */
  async delete(name: string): Promise<void> {
    requireName('queues.delete', name);
    await this.#internals.connection.useOnce(async ({ database, projectId }) => {
      const key = { projectId, name };
      if (await deleteQueue(database, key)) return;
      if ((await findQueue(database, key)) === undefined) throw notFound(name);
      const message = `The queue "${name}" still holds jobs`;
      throw new HoldfastError(message, { code: 'queue_not_empty' });
    });
  }

  /**
   * Ends a pause.
   *
   * @throws HoldfastError `queue_not_found`; OptionsInvalidError
   */
  async resume(name: string): Promise<void> {
    requireName('queues.resume', name);
    const { connection, events } = this.#internals;
    await connection.useWithRetry(async ({ database, projectId, notifier }) => {
      const id = await resumeQueue(database, { projectId, name });
      if (id === undefined) throw notFound(name);
      notifier.wakeQueues([id]);
    });
    events.emit('QueueResumed', { queue: name });
  }

  /**
   * Reads a queue.
   *
   * @throws HoldfastError `queue_not_found`; OptionsInvalidError
   */
  async get(name: string): Promise<Queue> {
    requireName('queues.get', name);
    return this.#internals.connection.useWithRetry((open) => requireQueue(open, name));
  }

  /** Every queue of the project, by name. */
  list(): Promise<readonly Queue[]> {
    return this.#internals.connection.useWithRetry(async ({ database, projectId }) => {
      const queues: Queue[] = [];
      for (let afterName: string | undefined; ; afterName = queues.at(-1)?.name) {
        const rows = await listQueues(database, { projectId, afterName, limit: pageSize });
        queues.push(...rows.map(toQueue));
        if (rows.length < pageSize) return queues;
      }
    });
  }
}

interface Pause {
  readonly call: string;
  readonly name: string;
  readonly options: PauseOptions;
}

async function requireQueue(open: OpenConnection, name: string): Promise<Queue> {
  return toQueue(await requireView(open, name));
}

async function requireView(open: OpenConnection, name: string): Promise<QueueView> {
  const view = await readQueue(open.database, { projectId: open.projectId, name });
  if (view === undefined) throw notFound(name);
  return view;
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(`There is no queue "${name}"`, { code: 'queue_not_found' });
}

function readOptions(name: string, options: QueueOptions) {
  const check = new OptionCheck(callWith('queues.upsert', name));
  check.name('the name', name);
  if (!check.names(options, optionNames)) check.done();
  const { concurrency, retryUntil, maxExceptions, ...jobOptions } = options;
  check.whole('concurrency', concurrency ?? undefined, { min: 1, max: 100_000 });
  const { maxAttempts, timeoutMs, retry } = readJobFields(check, {
    ...jobOptions,
    retryUntil: retryUntil ?? undefined,
    maxExceptions: maxExceptions ?? undefined,
  });
  check.done();
  return {
    ...{ maxAttempts, timeoutMs },
    retry: {
      ...retry,
      ...(retryUntil === null ? { retryForMs: undefined, retryUntil: undefined } : {}),
      ...(maxExceptions === null ? { maxExceptions: undefined } : {}),
    },
  };
}

function defaultsOf(
  read: ReturnType<typeof readOptions>,
  before: QueueJobDefaults,
): QueueJobDefaults {
  const { maxAttempts, timeoutMs } = read;
  const retry = completeRetry(read.retry, before.retry);
  return {
    ...before,
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
  };
}

function toQueue(view: QueueView): Queue {
  const { name, concurrency, maxAttempts, timeoutMs, backoff, paused, counts } = view;
  const { retry, retryUntil, maxExceptions, oldestWaitMs, createdAt, updatedAt } = view;
  return {
    ...{ name, concurrency, maxAttempts, timeoutMs, backoff, retry, retryUntil, maxExceptions },
    ...{ paused, counts, oldestWaitMs, createdAt, updatedAt },
  };
}
