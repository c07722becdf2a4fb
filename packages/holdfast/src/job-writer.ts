import {
  enqueueJobs,
  enqueueUniqueJobs,
  foreignQueryable,
  readJobStatus,
  resolveQueuesFor,
  wakeForJobs,
} from '@holdfast/database';
import type { NewJob, Queryable, UniqueJob } from '@holdfast/database';
import { TransactionInvalidError } from '@holdfast/domain';
import type { Connection, OpenConnection } from './connection.ts';
import type { EnqueueMiddleware, EnqueueResult } from './enqueue-result.ts';
import type { EventHub } from './event-hub.ts';
import { checkChangedDraft } from './job-draft.ts';
import type { CheckedDraft, JobDraft } from './job-draft.ts';
import { mergeFields } from './job-fields.ts';
import { throughMiddleware } from './middleware-chain.ts';
import { fieldsOfDefinition } from './read-job-defaults.ts';
import { completeRetry } from './read-retry.ts';
import type { TransactionAdapter } from './transaction-adapter.ts';

/** What a writer works with. */
export interface JobWriterParts {
  readonly connection: Connection;
  readonly events: EventHub;
  readonly adapter: TransactionAdapter<unknown>;
  /** Of a payload, in bytes of JSON. */
  readonly limitBytes: number;
}

/** How jobs are written. */
export interface WriteOptions {
  /** The name of the call, for errors. */
  readonly call: string;
  /** The caller's transaction, of whatever library. */
  readonly tx?: unknown;
}

/** Stores checked jobs; answers in their order. */
export type StoreJobs = (jobs: readonly CheckedDraft[]) => Promise<readonly EnqueueResult[]>;

/** Writes checked jobs, through the middleware. */
export class JobWriter {
  readonly #parts: JobWriterParts;
  readonly #middleware: EnqueueMiddleware[] = [];

  constructor(parts: JobWriterParts) {
    this.#parts = parts;
  }

  get limitBytes(): number {
    return this.#parts.limitBytes;
  }

  /** Adds a middleware; the first one is the outermost. */
  use(middleware: EnqueueMiddleware): void {
    this.#middleware.push(middleware);
  }

  /** Writes the jobs, all or none; answers in their order. */
  write(jobs: readonly CheckedDraft[], options: WriteOptions): Promise<readonly EnqueueResult[]> {
    return this.pass(jobs, options.call, (left) => this.#store(left, options));
  }

  /**
   * Takes jobs through the middleware, and gives what that leaves of them to `store`; answers a result for each.
   *
   * @throws HoldfastError `middleware_invalid`
   */
  pass(jobs: readonly CheckedDraft[], call: string, store: StoreJobs): ReturnType<StoreJobs> {
    if (this.#middleware.length === 0) return store(jobs);
    const checked = new Map(jobs.map((job) => [job.draft, job]));
    const hasGivenId = new Map(jobs.map((job) => [job.draft.options.id, job.hasGivenId]));
    const last = async (drafts: readonly JobDraft[]): ReturnType<StoreJobs> => {
      const left = drafts.map(
        (draft) =>
          checked.get(draft) ??
          checkChangedDraft(draft, {
            call,
            limitBytes: this.#parts.limitBytes,
            hasGivenId: hasGivenId.get(draft.options.id) ?? true,
          }),
      );
      return store(left);
    };
    return throughMiddleware(
      this.#middleware,
      jobs.map(({ draft }) => draft),
      last,
    );
  }

  /**
   * Lets Holdfast's statements take part in the caller's transaction.
   *
   * @throws TransactionInvalidError when it is none of the adapter's library
   */
  queryableOf(tx: unknown): Queryable {
    const { adapter, connection } = this.#parts;
    if (tx === null || (typeof tx !== 'object' && typeof tx !== 'function')) {
      throw new TransactionInvalidError(`tx is no transaction of ${adapter.name}`);
    }
    return foreignQueryable(adapter.toQueryable(tx), connection.schema);
  }

  async #store(
    jobs: readonly CheckedDraft[],
    { tx }: WriteOptions,
  ): Promise<readonly EnqueueResult[]> {
    if (jobs.length === 0) return [];
    const { connection } = this.#parts;
    const results =
      tx === undefined
        ? await connection.useWithRetry((open, mayRepeat) => insert(open, { jobs, mayRepeat }))
        : await this.#storeWithin(this.queryableOf(tx), jobs);
    this.announce(jobs, results);
    return results;
  }

  #storeWithin(tx: Queryable, jobs: readonly CheckedDraft[]): Promise<readonly EnqueueResult[]> {
    return this.#parts.connection.use((open) => insert(open, { jobs, tx, mayRepeat: false }));
  }

  /** Tells the listeners of this process what became of each job. */
  announce(jobs: readonly CheckedDraft[], results: readonly EnqueueResult[]): void {
    const { events } = this.#parts;
    results.forEach(({ id, status, deduplicated }, index) => {
      const job = jobs[index];
      if (job === undefined) return;
      const data = { jobId: id, type: job.draft.type, queue: queueOf(job) };
      if (deduplicated) events.emit('JobDeduplicated', data);
      else events.emit(status === 'scheduled' ? 'JobScheduled' : 'JobQueued', data);
    });
  }
}

interface Insert {
  readonly jobs: readonly CheckedDraft[];
  readonly tx?: Queryable | undefined;
  /** An earlier try may have inserted the jobs. */
  readonly mayRepeat: boolean;
}

async function insert(open: OpenConnection, request: Insert): Promise<readonly EnqueueResult[]> {
  const newJobs = await toNewJobs(open, request.jobs, request.tx);
  const mayRepeat = request.mayRepeat || request.jobs.some(({ hasGivenId }) => hasGivenId);
  const work = { ...request, newJobs, mayRepeat };
  return newJobs.some(({ unique }) => unique !== undefined)
    ? insertUnique(open, work)
    : insertPlain(open, work);
}

interface InsertWork extends Insert {
  readonly newJobs: readonly UniqueJob[];
}

async function insertPlain(
  open: OpenConnection,
  work: InsertWork,
): Promise<readonly EnqueueResult[]> {
  const { tx, mayRepeat } = work;
  const { database, enqueuer, projectId } = open;
  const jobs = work.newJobs.map((job): NewJob => ({ ...job, unique: undefined }));
  const [only] = jobs;
  if (tx === undefined && only !== undefined && jobs.length === 1) {
    const isNew = await enqueuer.enqueue(projectId, only, { mayRepeat });
    return resultsOf(open, work, new Set(isNew ? [only.id] : []));
  }
  const done = await enqueueJobs(database, { projectId, jobs, tx, mayRepeat });
  if (tx === undefined) wakeForJobs(open.notifier, done);
  return resultsOf(open, work, done.insertedIds);
}

async function insertUnique(
  open: OpenConnection,
  { jobs, newJobs, tx, mayRepeat }: InsertWork,
): Promise<readonly EnqueueResult[]> {
  const { database, projectId } = open;
  const done = await enqueueUniqueJobs(database, { projectId, jobs: newJobs, tx, mayRepeat });
  if (tx === undefined) wakeForJobs(open.notifier, done);
  return done.outcomes.map((outcome, index) => {
    const { id, status = 'queued', isNew, conflict, holderId } = outcome;
    return {
      ...{ id, status },
      deduplicated: outcome.deduplicated || (!isNew && jobs[index]?.hasGivenId === true),
      ...(conflict === undefined ? {} : { conflict }),
      ...(holderId === undefined ? {} : { holderId }),
    };
  });
}

async function resultsOf(
  { database, projectId }: OpenConnection,
  { jobs, newJobs, tx }: InsertWork,
  insertedIds: ReadonlySet<string>,
): Promise<readonly EnqueueResult[]> {
  const newIds = new Set(insertedIds);
  const results: EnqueueResult[] = [];
  for (const [index, { id, runAt, delayMs = 0 }] of newJobs.entries()) {
    const status = runAt !== undefined || delayMs > 0 ? 'scheduled' : 'queued';
    // An id that was made here and exists already is that of an earlier try, whose answer was lost.
    const isOwn = newIds.delete(id) || jobs[index]?.hasGivenId !== true;
    const found = isOwn ? status : await readJobStatus(tx ?? database, { projectId, id });
    results.push({ id, status: found ?? status, deduplicated: !isOwn });
  }
  return results;
}

/**
 * The jobs in stored form: what the caller said, then the definition, then the queue.
 *
 * @param tx the transaction that they are for
 */
export async function toNewJobs(
  { database, projectId }: OpenConnection,
  jobs: readonly CheckedDraft[],
  tx?: Queryable,
): Promise<readonly UniqueJob[]> {
  const names = [...new Set(jobs.map(queueOf))];
  const queues = await resolveQueuesFor(tx, { database, projectId, names });
  return jobs.map((job) => {
    const { draft } = job;
    const fields = fieldsOf(job);
    const queue = queueOf(job);
    return {
      id: draft.options.id,
      type: draft.type,
      queue,
      payloadJson: job.payloadJson,
      priority: fields.priority,
      maxAttempts: fields.maxAttempts,
      timeoutMs: fields.timeoutMs,
      retry: completeRetry(fields.retry, queues.get(queue)?.jobDefaults.retry),
      tags: fields.tags,
      metadataJson: fields.metadataJson,
      runAt: fields.runAt,
      delayMs: fields.delayMs,
      startDeadlineAt: fields.startDeadlineAt,
      startDeadlineMs: fields.startDeadlineMs,
      unique: fields.unique,
      payloadVersion: fields.payloadVersion,
    };
  });
}

/** What the caller said, and where that is nothing, the definition. */
export function fieldsOf({ draft, fields }: CheckedDraft) {
  return draft.job === undefined ? fields : mergeFields(fieldsOfDefinition(draft.job), fields);
}

/** The queue that the job goes to. */
export function queueOf({ draft, fields }: CheckedDraft): string {
  return fields.queue ?? draft.job?.defaults.queue ?? 'default';
}
