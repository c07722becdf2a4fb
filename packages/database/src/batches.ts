import type { BatchStatus, CallbackRole } from '@holdfast/domain';
import { batchStatus, HoldfastError } from '@holdfast/domain';
import { plainArray, textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import type { JobTemplate } from './job-template.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueues } from './queue-directory.ts';
import { advanceBatches } from './settling.ts';

/** A chain is a batch whose jobs run one after the other; a graph, one whose jobs wait for any of its others. */
export type BatchKind = 'batch' | 'chain' | 'graph';

/** What becomes of a job when a parent ends otherwise than completed. */
export type OnParentFailure = 'cancel' | 'run' | 'wait';

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
  /** The batch that this one is a member of; it must be open. */
  readonly parentId?: string | undefined;
  /** Dead and cancelled members do not keep `then` from coming. */
  readonly allowFailures?: boolean | undefined;
  readonly jobs: readonly NewJob[];
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

/** Jobs of one insert. */
const slice = 2_000;

/**
 * Makes a batch with its jobs, all or none.
 *
 * @throws HoldfastError `batch_not_open` when the outer batch takes no more members.
 */
export async function createBatch(
  database: Database,
  request: {
    readonly projectId: string;
    readonly batch: NewBatch;
    readonly tx?: Queryable | undefined;
  },
): Promise<BatchEnqueued> {
  const { projectId, batch } = request;
  // Before the transaction: to look queues up takes a connection of its own.
  const queues = await resolveQueues(database, projectId, queuesOf(batch));
  const make = async (tx: Queryable): Promise<BatchEnqueued> => {
    const { parentId } = batch;
    if (parentId !== undefined) await lockOpenBatch(tx, { projectId, id: parentId });
    const [row] = await tx.query(statements.insertBatch, [
      ...[projectId, batch.id, batch.kind, batch.name ?? null, parentId ?? null],
      ...[batch.allowFailures === true, batch.jobs.length],
    ]);
    if (row === undefined) return { isNew: false, queueIds: [], scheduled: false };
    if (parentId !== undefined) await tx.query(statements.growBatch, [projectId, parentId, 1]);
    await insertCallbacks(tx, projectId, batch);
    await insertDependencies(tx, projectId, batch);
    const enqueued = await insertMembers(database, tx, { projectId, queues, ...membersOf(batch) });
    if (batch.jobs.length > 0) return { isNew: true, ...enqueued };
    const wakes = { queueIds: new Set<string>(), scheduled: false, cascaded: false };
    const counts = new Map([[batch.id, { completed: 0, dead_letter: 0, cancelled: 0 }]]);
    await advanceBatches(tx, { database, projectId, wakes, counts });
    return { isNew: true, queueIds: [...wakes.queueIds], scheduled: wakes.scheduled };
  };
  return request.tx === undefined ? database.transaction(make) : make(request.tx);
}

/**
 * Adds jobs to a batch that has not finished.
 *
 * @throws HoldfastError `batch_not_found`, or `batch_not_open` when it has finished or was cancelled.
 */
export async function addToBatch(
  database: Database,
  request: {
    readonly projectId: string;
    readonly id: string;
    readonly jobs: readonly NewJob[];
    readonly tx?: Queryable | undefined;
  },
): Promise<BatchEnqueued> {
  const { projectId, id } = request;
  const jobs = request.jobs.map((job) => ({ ...job, batchId: id }));
  const queues = await resolveQueues(database, projectId, [
    ...new Set(jobs.map((job) => job.queue)),
  ]);
  const add = async (tx: Queryable): Promise<BatchEnqueued> => {
    await lockOpenBatch(tx, { projectId, id });
    const enqueued = await insertMembers(database, tx, { projectId, jobs, queues });
    if (enqueued.count > 0) {
      await tx.query(statements.growBatch, [projectId, id, enqueued.count]);
    }
    return { isNew: enqueued.count > 0, ...enqueued };
  };
  return request.tx === undefined ? database.transaction(add) : add(request.tx);
}

/** A batch is locked until the caller's transaction ends; nobody settles it meanwhile. */
async function lockOpenBatch(
  tx: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<void> {
  const [row] = await tx.query<{ is_finished: boolean; is_cancelled: boolean }>(
    statements.lockOpenBatch,
    [key.projectId, key.id],
  );
  if (row === undefined) {
    throw new HoldfastError(`There is no batch ${key.id}`, { code: 'batch_not_found' });
  }
  if (!row.is_finished && !row.is_cancelled) return;
  const what = row.is_cancelled ? 'was cancelled' : 'has finished';
  throw new HoldfastError(`The batch ${key.id} ${what}`, { code: 'batch_not_open' });
}

function queuesOf(batch: NewBatch): readonly string[] {
  const ofCallbacks = batch.jobs.length === 0 ? (batch.callbacks ?? []) : [];
  return [
    ...new Set([...batch.jobs.map((job) => job.queue), ...ofCallbacks.map(({ job }) => job.queue)]),
  ];
}

/** The jobs with what they must know of each other. */
function membersOf({ id, jobs, dependencies = [] }: NewBatch): {
  readonly jobs: readonly NewJob[];
} {
  const parentCounts = new Map<string, number>();
  const parents = new Set<string>();
  for (const { parentId, childId } of dependencies) {
    parents.add(parentId);
    parentCounts.set(childId, (parentCounts.get(childId) ?? 0) + 1);
  }
  return {
    jobs: jobs.map((job) => ({
      ...job,
      batchId: id,
      hasChildren: parents.has(job.id),
      parentCount: parentCounts.get(job.id),
    })),
  };
}

async function insertMembers(
  database: Database,
  tx: Queryable,
  request: {
    readonly projectId: string;
    readonly jobs: readonly NewJob[];
    readonly queues: Awaited<ReturnType<typeof resolveQueues>>;
  },
) {
  const { projectId, queues } = request;
  const queueIds = new Set<string>();
  let scheduled = false;
  let count = 0;
  for (let start = 0; start < request.jobs.length; start += slice) {
    const jobs = request.jobs.slice(start, start + slice);
    const enqueued = await enqueueJobs(database, { projectId, jobs, tx, queues, mayRepeat: true });
    for (const id of enqueued.queueIds) queueIds.add(id);
    scheduled ||= enqueued.scheduled;
    count += enqueued.insertedIds.size;
  }
  return { queueIds: [...queueIds], scheduled, count };
}

async function insertCallbacks(tx: Queryable, projectId: string, batch: NewBatch): Promise<void> {
  const { callbacks = [] } = batch;
  if (callbacks.length === 0) return;
  await tx.query(statements.insertBatchCallbacks, [
    projectId,
    batch.id,
    plainArray(callbacks.map(({ role }) => role)),
    plainArray(callbacks.map(({ percent }) => percent ?? 0)),
    plainArray(callbacks.map(({ jobId }) => jobId)),
    textArray(callbacks.map(({ job }) => JSON.stringify(job))),
  ]);
}

async function insertDependencies(
  tx: Queryable,
  projectId: string,
  { jobs, dependencies = [] }: NewBatch,
): Promise<void> {
  if (dependencies.length === 0) return;
  const delayOf = new Map(jobs.map((job) => [job.id, job.delayMs ?? 0]));
  await tx.query(statements.insertDependencies, [
    projectId,
    plainArray(dependencies.map(({ parentId }) => parentId)),
    plainArray(dependencies.map(({ childId }) => childId)),
    plainArray(dependencies.map(({ onFailure }) => onFailure)),
    plainArray(dependencies.map(({ childId }) => delayOf.get(childId) ?? 0)),
  ]);
}

/** A batch as it is shown. */
export interface BatchView {
  readonly id: string;
  readonly kind: BatchKind;
  readonly name: string | undefined;
  readonly parentId: string | undefined;
  readonly allowFailures: boolean;
  readonly status: BatchStatus;
  readonly totalCount: number;
  readonly completedCount: number;
  readonly deadLetterCount: number;
  readonly cancelledCount: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
  readonly cancelledAt: Date | undefined;
  /** Empty in lists. */
  readonly callbacks: readonly CallbackView[];
}

/** A callback as it is shown. */
export interface CallbackView {
  readonly role: CallbackRole;
  readonly percent: number;
  readonly jobId: string;
  readonly type: string;
  readonly enqueuedAt: string | null;
  readonly endedAt: string | null;
}

interface BatchViewRow {
  readonly id: string;
  readonly kind: BatchKind;
  readonly name: string | null;
  readonly parent_id: string | null;
  readonly allow_failures: boolean;
  readonly total_count: number;
  readonly completed_count: number;
  readonly dead_letter_count: number;
  readonly cancelled_count: number;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly cancelled_at: Date | null;
  readonly callbacks: readonly CallbackView[];
}

/** One batch with its callbacks; undefined when there is none. */
export async function readBatch(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<BatchView | undefined> {
  const [row] = await db.query<BatchViewRow>(statements.readBatch, [key.projectId, key.id]);
  return row && toBatchView(row);
}

/** A page of batches, newest first. */
export async function listBatches(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly limit: number;
    readonly beforeId?: string | undefined;
    readonly kind?: BatchKind | undefined;
  },
): Promise<readonly BatchView[]> {
  const { projectId, limit, beforeId = null, kind = null } = request;
  const values = [projectId, limit, beforeId, kind];
  return (await db.query<BatchViewRow>(statements.listBatches, values)).map(toBatchView);
}

function toBatchView(row: BatchViewRow): BatchView {
  const counts = {
    allowFailures: row.allow_failures,
    totalCount: row.total_count,
    completedCount: row.completed_count,
    deadLetterCount: row.dead_letter_count,
    cancelledCount: row.cancelled_count,
  };
  return {
    ...counts,
    id: row.id,
    kind: row.kind,
    name: row.name ?? undefined,
    parentId: row.parent_id ?? undefined,
    status: batchStatus({ ...counts, isCancelled: row.cancelled_at !== null }),
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    cancelledAt: row.cancelled_at ?? undefined,
    callbacks: row.callbacks,
  };
}

/** What a parent of a job has left. */
export interface ParentOutput {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly result: unknown;
}

/** The parents of a job with their results. */
export async function listParents(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<readonly ParentOutput[]> {
  const rows = await db.query<{ id: string; type: string; status: string; result: string | null }>(
    statements.listParents,
    [key.projectId, key.id],
  );
  return rows.map(({ result, ...parent }) => ({
    ...parent,
    result: result === null ? undefined : (JSON.parse(result) as unknown),
  }));
}

/** An edge of a chain or graph as it is shown. */
export interface DependencyView extends NewDependency {
  readonly state: 'waiting' | 'satisfied' | 'broken';
}

/** The edges of a chain or graph. */
export async function listBatchDependencies(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<readonly DependencyView[]> {
  const rows = await db.query<{
    readonly parent_id: string;
    readonly child_id: string;
    readonly on_failure: OnParentFailure;
    readonly state: DependencyView['state'];
  }>(statements.listBatchDependencies, [key.projectId, key.id]);
  return rows.map((row) => ({
    parentId: row.parent_id,
    childId: row.child_id,
    onFailure: row.on_failure,
    state: row.state,
  }));
}
