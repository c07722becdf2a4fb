import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { NewJob } from './enqueue.ts';
import type { Notifier } from './notifier.ts';
import { isTransientError } from './transient-error.ts';

/** Enqueues single jobs; calls that come while another insert is under way share the next insert and its commit. */
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

/** Makes an enqueuer on the database's pool. */
export function createEnqueuer(database: Database, notifier: Notifier): Enqueuer {
  return new CoalescingEnqueuer(database, notifier);
}

class CoalescingEnqueuer implements Enqueuer {
  readonly #database: Database;
  readonly #notifier: Notifier;
  #waiting: Waiting[] = [];
  #draining = false;

  constructor(database: Database, notifier: Notifier) {
    this.#database = database;
    this.#notifier = notifier;
  }

  enqueue(projectId: string, job: NewJob): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ projectId, job, resolve, reject });
      if (this.#draining) return;
      this.#draining = true;
      // The calls of one turn of the event loop go together.
      setImmediate(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      await this.#insert(batch);
    }
    this.#draining = false;
  }

  /** The oldest waiting calls of one project. */
  #takeBatch(): readonly Waiting[] {
    const projectId = this.#waiting[0]?.projectId;
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const entry of this.#waiting) {
      (entry.projectId === projectId && taken.length < maxBatch ? taken : left).push(entry);
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
