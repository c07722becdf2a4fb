import type { TestPlace } from '@holdfast/database/test-databases';
import { listStoredJobs } from '@holdfast/database/time-travel';
import { OptionCheck } from '../check-options.ts';
import type { Holdfast } from '../holdfast.ts';
import { internalsOf } from '../internals.ts';
import type { WorkerJob } from '../job-definition.ts';
import type { Duration } from '../job-options.ts';
import type { RegisteredTransaction } from '../register.ts';
import type { Worker } from '../worker.ts';
import { drain } from './drain.ts';
import type { DrainOptions, DrainResult } from './drain.ts';
import { EnqueueExpectations } from './enqueue-expectations.ts';
import { toEnqueuedJob } from './enqueued-job.ts';
import type { EnqueuedJob } from './enqueued-job.ts';
import { TestClock } from './test-clock.ts';

/** What a `TestHoldfast` is made from. */
export interface TestHoldfastParts<Tx> {
  readonly holdfast: Holdfast<Tx>;
  readonly place: TestPlace;
  readonly jobs: readonly WorkerJob<Tx>[];
  readonly prepareWorker: ((worker: Worker<Tx>) => unknown) | undefined;
}

/** A `Holdfast` on tables that no other test sees. Made by `createTestHoldfast`. */
export class TestHoldfast<Tx = RegisteredTransaction>
  extends EnqueueExpectations
  implements AsyncDisposable
{
  /** What the application under test is given. */
  readonly holdfast: Holdfast<Tx>;
  /** The database of the tables, for the application's own connections. */
  readonly connectionString: string;
  /** The schema of the tables. */
  readonly schema: string;
  readonly #parts: TestHoldfastParts<Tx>;
  readonly #clock = new TestClock();
  #closing: Promise<void> | undefined;

  constructor(parts: TestHoldfastParts<Tx>) {
    super();
    this.#parts = parts;
    this.holdfast = parts.holdfast;
    this.connectionString = parts.place.connectionString;
    this.schema = parts.place.schema;
  }

  /**
   * Works the jobs that are due, in this process and by a real worker, until none is: also those that they enqueue, jobs
   * that waited for them, callbacks of batches, and listeners of events. Retries, and everything else that is for later,
   * belong to a later drain; see `advance`.
   *
   * @throws DrainError when attempts failed, unless `errors` is `report`; HoldfastError `drain_timed_out`; ConfigError when
   * a job has no handler
   */
  async drain(options: DrainOptions<Tx> = {}): Promise<DrainResult> {
    const { holdfast, prepareWorker } = this.#parts;
    const open = await internalsOf(holdfast).connection.open();
    const jobs = options.jobs ?? this.#parts.jobs;
    return drain({ holdfast, open, clock: this.#clock, jobs, prepareWorker, options });
  }

  /**
   * Lets time pass, as if schedulers had run all the while and no worker: delays, retries, start deadlines, unique keys
   * with a `ttl`, pauses and leases are further on, and each schedule fires at all of its instants. Nothing runs before the
   * next `drain`.
   *
   * PostgreSQL has no clock that could be set. So what is stored of jobs, unique keys, pauses, leases and workers is moved
   * into the past, in one transaction.
   *
   * @throws OptionsInvalidError; HoldfastError `advance_too_far` when schedules have more than 10 000 instants in the time
   */
  async advance(duration: Duration): Promise<void> {
    const check = new OptionCheck('advance');
    const passedMs = check.duration('the duration', duration) ?? 0;
    check.done();
    await this.#clock.advance(await internalsOf(this.holdfast).connection.open(), passedMs);
  }

  /** Closes the connections and removes the tables; safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override async listEnqueued(): Promise<readonly EnqueuedJob[]> {
    const { database, projectId } = await internalsOf(this.holdfast).connection.open();
    return (await listStoredJobs(database, { projectId })).map(toEnqueuedJob);
  }

  async #close(): Promise<void> {
    try {
      await this.holdfast.close();
    } finally {
      await this.#parts.place.drop();
    }
  }
}
