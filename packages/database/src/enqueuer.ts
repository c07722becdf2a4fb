import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { NewJob } from './enqueue.ts';
import type { Notifier } from './notifier.ts';
import { isTransientError } from './transient-error.ts';

/** Enqueues single jobs; calls that come while others are under way share the next insert and its commit. */
export interface Enqueuer {
  /**
   * Resolves after the commit that holds the job.
   *
   * @returns whether the job is new; false when its id existed already.
   */
  enqueue(projectId: string, job: NewJob): Promise<boolean>;
}

interface Waiting {
  readonly projectId: string;
  readonly job: NewJob;
  resolve(inserted: boolean): void;
  reject(error: unknown): void;
}

const maxBatch = 1_000;
/** While one waits for the disk, the next one is made. */
const maxInserts = 2;
/** Fewer calls than these are not worth two inserts. */
const splitFrom = 10;

/** Makes an enqueuer on the database's pool. */
export function createEnqueuer(database: Database, notifier: Notifier): Enqueuer {
  return new CoalescingEnqueuer(database, notifier);
}

class CoalescingEnqueuer implements Enqueuer {
  readonly #database: Database;
  readonly #notifier: Notifier;
  #waiting: Waiting[] = [];
  #insertCount = 0;
  #isScheduled = false;

  constructor(database: Database, notifier: Notifier) {
    this.#database = database;
    this.#notifier = notifier;
  }

  enqueue(projectId: string, job: NewJob): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ projectId, job, resolve, reject });
      this.#schedule();
    });
  }

  /** The calls of one turn of the event loop go together, also those of callers that an insert has just answered. */
  #schedule(): void {
    if (this.#isScheduled || this.#insertCount >= maxInserts || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#insertCount += 1;
      void this.#insert(this.#takeBatch()).finally(() => {
        this.#insertCount -= 1;
        this.#schedule();
      });
      this.#schedule();
    });
  }

  /** The oldest waiting calls of one project; half of many, so that one insert runs while the other one commits. */
  #takeBatch(): readonly Waiting[] {
    const isSplit = this.#insertCount === 1 && this.#waiting.length >= splitFrom;
    const limit = isSplit ? Math.ceil(this.#waiting.length / maxInserts) : maxBatch;
    const projectId = this.#waiting[0]?.projectId;
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const entry of this.#waiting) {
      (entry.projectId === projectId && taken.length < Math.min(limit, maxBatch)
        ? taken
        : left
      ).push(entry);
    }
    this.#waiting = left;
    return taken;
  }

  async #insert(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    try {
      const jobs = batch.map((entry) => entry.job);
      const done = await enqueueJobs(this.#database, { projectId: first.projectId, jobs });
      this.#notifier.wakeQueues(done.queueIds);
      if (done.scheduled) this.#notifier.wakeSchedulers();
      // Of several calls with one id, only the first made the job.
      const newIds = new Set(done.insertedIds);
      for (const entry of batch) entry.resolve(newIds.delete(entry.job.id));
    } catch (error) {
      await this.#blame(batch, error);
    }
  }

  /** One job that the database refuses must not fail its neighbours; a broken connection fails them all. */
  async #blame(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (batch.length === 1 || isTransientError(error)) {
      for (const entry of batch) entry.reject(error);
      return;
    }
    for (const entry of batch) await this.#insert([entry]);
  }
}
