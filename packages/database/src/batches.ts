import type { BatchKind, CallbackRole, OnParentFailure } from '@holdfast/domain';
import { HoldfastError } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import { checkBatchDepth } from './check-batch-depth.ts';
import { checkBatchIds, refuseRepeated } from './check-batch-ids.ts';
import { checkDependencies } from './check-dependencies.ts';
import type { Database } from './database.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { insertBatchTree, insertMembers } from './insert-batch-tree.ts';
import type { Making } from './insert-batch-tree.ts';
import type { JobTemplate } from './job-template.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueues } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';

/** One job waits for another. */
export interface NewDependency {
  readonly parentId: string;
  readonly childId: string;
  readonly onFailure: OnParentFailure;
}

/** A job that a batch makes when its moment comes. */
export interface NewCallback {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it, 1 to 100. */
  readonly percent?: number | undefined;
  /** The id that its job gets. */
  readonly jobId: string;
  readonly job: JobTemplate;
}

/** A batch to be made, with all that is in it. */
export interface NewBatch {
  /** A UUID made by the caller; making the same id twice makes one batch. */
  readonly id: string;
  readonly kind: BatchKind;
  readonly name?: string | undefined;
  /** Dead and cancelled members do not keep `then` from coming. */
  readonly allowFailures?: boolean | undefined;
  readonly jobs: readonly NewJob[];
  /** Batches that are members of this one. */
  readonly batches?: readonly NewBatch[] | undefined;
  /** Between jobs of this batch. */
  readonly dependencies?: readonly NewDependency[] | undefined;
  readonly callbacks?: readonly NewCallback[] | undefined;
}

/** What making or growing a batch did, and whom to wake after its commit. */
export interface BatchEnqueued {
  /** False when the batch, or each of the jobs, was there already. */
  readonly isNew: boolean;
  readonly queueIds: readonly string[];
  readonly scheduled: boolean;
}

/** How a batch is made. */
export interface CreateBatch {
  readonly projectId: string;
  readonly batch: NewBatch;
  /** The batch that it becomes a member of; it must be open. */
  readonly parentId?: string | undefined;
  readonly tx?: Queryable | undefined;
  /** The queues of everything in it, where the caller's transaction takes the last connection. */
  readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
  /** That some of the jobs have ids that may have been used before. */
  readonly mayRepeat?: boolean | undefined;
}

const nothing: BatchEnqueued = { isNew: false, queueIds: [], scheduled: false };

/**
 * Makes a batch with its jobs and the batches in it, all or none.
 *
 * @throws HoldfastError `batch_not_open` or `batch_not_found` when there is no outer batch that takes more members;
 * `batch_member_exists` when a job or an inner batch has an id that is taken, or is given twice; `graph_invalid` for
 * edges that make a cycle, lead out of the batch or are too many; `batch_too_deep`
 */
export async function createBatch(
  database: Database,
  request: CreateBatch,
): Promise<BatchEnqueued> {
  const { projectId, batch, mayRepeat = false } = request;
  checkBatchDepth(batch);
  checkBatchIds(batch);
  checkTree(batch);
  // Before the transaction: to look queues up takes a connection of its own.
  const queues = request.queues ?? (await resolveQueues(database, projectId, [...queuesOf(batch)]));
  const make = async (tx: Queryable): Promise<BatchEnqueued> => {
    const making: Making = {
      ...{ database, tx, projectId, queues, mayRepeat },
      ...{ queueIds: new Set<string>(), scheduled: false },
    };
    const isNew = await insertWithin(making, request);
    return isNew ? { isNew, queueIds: [...making.queueIds], scheduled: making.scheduled } : nothing;
  };
  return request.tx === undefined ? database.transaction(make) : make(request.tx);
}

async function insertWithin(making: Making, { batch, parentId }: CreateBatch): Promise<boolean> {
  const { tx, projectId } = making;
  const { id } = batch;
  if (parentId !== undefined) {
    const refusal = await lockOpenBatch(tx, { projectId, id: parentId });
    const isThere = refusal && (await tx.query(statements.findBatch, [projectId, id])).length > 0;
    if (isThere) return false;
    if (refusal !== undefined) throw refusal;
  }
  if (!(await insertBatchTree(making, batch, parentId))) return false;
  if (parentId !== undefined) await tx.query(statements.growBatch, [projectId, parentId, 1]);
  return true;
}

/**
 * Adds jobs to a batch that has not finished. Adding the same ids again adds nothing.
 *
 * @throws HoldfastError `batch_not_found`, or `batch_not_open` when it has finished or was cancelled;
 * `batch_member_exists` when an id belongs to another job, or is given twice
 */
export async function addToBatch(
  database: Database,
  request: {
    readonly projectId: string;
    readonly id: string;
    readonly jobs: readonly NewJob[];
    readonly tx?: Queryable | undefined;
    /** As for {@link createBatch}. */
    readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
  },
): Promise<BatchEnqueued> {
  const { projectId, id, jobs } = request;
  refuseRepeated(jobs.map((job) => job.id));
  const names = [...new Set(jobs.map((job) => job.queue))];
  const queues = request.queues ?? (await resolveQueues(database, projectId, names));
  const add = async (tx: Queryable): Promise<BatchEnqueued> => {
    const refusal = await lockOpenBatch(tx, { projectId, id });
    const known = await findMembers(tx, request);
    const fresh = jobs.filter((job) => !known.has(job.id));
    if (fresh.length === 0 && jobs.length > 0) return nothing;
    if (refusal !== undefined) throw refusal;
    const making: Making = {
      ...{ database, tx, projectId, queues, mayRepeat: true },
      ...{ queueIds: new Set<string>(), scheduled: false },
    };
    await insertMembers(making, { id, jobs: fresh });
    await tx.query(statements.growBatch, [projectId, id, fresh.length]);
    return {
      isNew: fresh.length > 0,
      queueIds: [...making.queueIds],
      scheduled: making.scheduled,
    };
  };
  return request.tx === undefined ? database.transaction(add) : add(request.tx);
}

/** The ids that an earlier call has added. */
async function findMembers(
  tx: Queryable,
  request: {
    readonly projectId: string;
    readonly id: string;
    readonly jobs: readonly NewJob[];
  },
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(statements.findMembers, [
    request.projectId,
    request.id,
    plainArray(request.jobs.map(({ id }) => id)),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/**
 * A batch is locked until the caller's transaction ends; nobody settles it meanwhile. Answers why it takes no more
 * members, if it takes none.
 */
async function lockOpenBatch(
  tx: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<HoldfastError | undefined> {
  const [row] = await tx.query<{ is_finished: boolean; is_cancelled: boolean }>(
    statements.lockOpenBatch,
    [key.projectId, key.id],
  );
  if (row === undefined) {
    return new HoldfastError(`There is no batch ${key.id}`, { code: 'batch_not_found' });
  }
  if (!row.is_finished && !row.is_cancelled) return undefined;
  const what = row.is_cancelled ? 'was cancelled' : 'has finished';
  return new HoldfastError(`The batch ${key.id} ${what}`, { code: 'batch_not_open' });
}

function checkTree(batch: NewBatch): void {
  checkDependencies(batch);
  for (const inner of batch.batches ?? []) checkTree(inner);
}

function queuesOf({ jobs, callbacks = [], batches = [] }: NewBatch): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { queue } of jobs) names.add(queue);
  for (const { job } of callbacks) names.add(job.queue);
  for (const inner of batches) for (const name of queuesOf(inner)) names.add(name);
  return names;
}
