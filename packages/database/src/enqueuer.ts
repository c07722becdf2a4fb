import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { NewJob } from './enqueue.ts';
import type { Lane } from './lane.ts';
import { wakeForJobs } from './notifier.ts';
import type { Notifier } from './notifier.ts';
import { isTransientError } from './transient-error.ts';

/** Enqueues single jobs; calls that come while others are under way share the next insert and its commit. */
export interface Enqueuer {
  /**
   * Resolves after the commit that holds the job.
   *
   * @param options.mayRepeat that an earlier call may have inserted the id, and that its job may have ended since
   * @returns whether the job is new; false when its id existed already.
   */
  enqueue(projectId: string, job: NewJob, options?: EnqueuerOptions): Promise<boolean>;
}

/** Options of a call of {@link Enqueuer.enqueue}. */
export interface EnqueuerOptions {
  readonly mayRepeat?: boolean | undefined;
}

interface Waiting {
  readonly projectId: string;
  readonly job: NewJob;
  readonly mayRepeat: boolean;
  resolve(inserted: boolean): void;
  reject(error: unknown): void;
}

const maxBatch = 1_000;
/** While one waits for the disk, the next one is made. */
const maxInserts = 2;
/** Fewer calls than these are not worth two inserts. */
const splitFrom = 10;

/** Makes an enqueuer with connections of its own, which end with the database. */
export function createEnqueuer(database: Database, notifier: Notifier): Enqueuer {
  return new CoalescingEnqueuer(database, notifier);
}

class CoalescingEnqueuer implements Enqueuer {
  readonly #database: Database;
  readonly #notifier: Notifier;
  #waiting: Waiting[] = [];
  readonly #idleLanes: Lane[];
  #isScheduled = false;

  constructor(database: Database, notifier: Notifier) {
    this.#database = database;
    this.#notifier = notifier;
    this.#idleLanes = Array.from({ length: maxInserts }, () => database.openLane('lane'));
  }

  enqueue(projectId: string, job: NewJob, options?: EnqueuerOptions): Promise<boolean> {
    const mayRepeat = options?.mayRepeat === true;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ projectId, job, mayRepeat, resolve, reject });
      this.#schedule();
    });
  }

  /** The calls of one turn of the event loop go together, also those of callers that an insert has just answered. */
  #schedule(): void {
    if (this.#isScheduled || this.#idleLanes.length === 0 || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const limit = Math.min(maxBatch, this.#shareOfEach());
      while (this.#waiting.length > 0) {
        // The one that was used last, so that a process which enqueues little has one connection for it.
        const lane = this.#idleLanes.pop();
        if (lane === undefined) return;
        void this.#insert(this.#takeBatch(limit), lane).finally(() => {
          this.#idleLanes.push(lane);
          this.#schedule();
        });
      }
    });
  }

  /** Many calls that come when nothing is under way are halved, so that one insert runs while the other one commits. */
  #shareOfEach(): number {
    const { length } = this.#waiting;
    const isSplit = this.#idleLanes.length === maxInserts && length >= splitFrom;
    return isSplit ? Math.ceil(length / maxInserts) : length;
  }

  /** The oldest waiting calls of one project. */
  #takeBatch(limit: number): readonly Waiting[] {
    const projectId = this.#waiting[0]?.projectId;
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const entry of this.#waiting) {
      (entry.projectId === projectId && taken.length < limit ? taken : left).push(entry);
    }
    this.#waiting = left;
    return taken;
  }

  async #insert(batch: readonly Waiting[], lane: Lane): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    try {
      const jobs = batch.map((entry) => entry.job);
      const mayRepeat = batch.some((entry) => entry.mayRepeat);
      const { projectId } = first;
      const done = await enqueueJobs(this.#database, { projectId, jobs, lane, mayRepeat });
      wakeForJobs(this.#notifier, done);
      // Of several calls with one id, only the first made the job.
      const newIds = new Set(done.insertedIds);
      for (const entry of batch) entry.resolve(newIds.delete(entry.job.id));
    } catch (error) {
      await this.#blame({ batch, lane, error });
    }
  }

  /** One job that the database refuses must not fail its neighbours; a broken connection fails them all. */
  async #blame(failure: {
    readonly batch: readonly Waiting[];
    readonly lane: Lane;
    readonly error: unknown;
  }): Promise<void> {
    const { batch, lane, error } = failure;
    if (batch.length === 1 || isTransientError(error)) {
      for (const entry of batch) entry.reject(error);
      return;
    }
    for (const entry of batch) await this.#insert([entry], lane);
  }
}
