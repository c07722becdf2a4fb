import type {
  BatchCounts,
  BatchKind,
  BatchStatus,
  CallbackRole,
  JobStatus,
  OnParentFailure,
} from '@holdfast/domain';
import { batchCounts, batchStatus } from '@holdfast/domain';
import type { NewDependency } from './batches.ts';
import { statements } from './generated/statements.ts';
import { readStoredType } from './job-template.ts';
import type { Queryable } from './queryable.ts';

/** A batch, chain or graph as it was when it was read. */
export interface BatchView {
  readonly id: string;
  readonly kind: BatchKind;
  readonly name: string | undefined;
  /** The batch that this one is a member of. */
  readonly parentId: string | undefined;
  readonly allowFailures: boolean;
  /** `running` until all members have ended; then how. */
  readonly status: BatchStatus;
  readonly counts: BatchCounts;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
  readonly cancelledAt: Date | undefined;
  /** Empty in lists. */
  readonly callbacks: readonly CallbackView[];
}

/** A callback of a batch. */
export interface CallbackView {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it. */
  readonly percent: number | undefined;
  /** The id of its job, also before that is made. */
  readonly jobId: string;
  readonly type: string;
  readonly enqueuedAt: Date | undefined;
  readonly endedAt: Date | undefined;
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
  readonly callbacks: readonly CallbackJson[];
}

/** A callback as the statement puts it into JSON. */
interface CallbackJson {
  readonly role: CallbackRole;
  readonly percent: number;
  readonly jobId: string;
  readonly type: unknown;
  readonly enqueuedAt: string | null;
  readonly endedAt: string | null;
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
  const counts = batchCounts({
    total: row.total_count,
    completed: row.completed_count,
    deadLetter: row.dead_letter_count,
    cancelled: row.cancelled_count,
  });
  const allowFailures = row.allow_failures;
  return {
    id: row.id,
    kind: row.kind,
    name: row.name ?? undefined,
    parentId: row.parent_id ?? undefined,
    allowFailures,
    status: batchStatus({ counts, allowFailures, isCancelled: row.cancelled_at !== null }),
    counts,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    cancelledAt: row.cancelled_at ?? undefined,
    callbacks: row.callbacks.map(toCallbackView),
  };
}

function toCallbackView({ role, percent, jobId, type, ...times }: CallbackJson): CallbackView {
  return {
    ...{ role, percent: role === 'progress' ? percent : undefined, jobId },
    type: readStoredType(type),
    enqueuedAt: times.enqueuedAt === null ? undefined : new Date(times.enqueuedAt),
    endedAt: times.endedAt === null ? undefined : new Date(times.endedAt),
  };
}

/** What a parent of a job has left. */
export interface ParentOutput {
  readonly id: string;
  /** `undefined` when history no longer has the parent; then there is no result either. */
  readonly type: string | undefined;
  readonly status: JobStatus | undefined;
  /** How the edge to it stands. */
  readonly state: DependencyState;
  readonly result: unknown;
}

/** The parents of a job with their results. */
export async function listParents(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<readonly ParentOutput[]> {
  const rows = await db.query<{
    readonly id: string;
    readonly type: string | null;
    readonly status: JobStatus | null;
    readonly state: DependencyState;
    readonly result: string | null;
  }>(statements.listParents, [key.projectId, key.id]);
  return rows.map(({ id, type, status, state, result }) => ({
    id,
    type: type ?? undefined,
    status: status ?? undefined,
    state,
    result: result === null ? undefined : (JSON.parse(result) as unknown),
  }));
}

/** waiting: the parent has not ended; satisfied: it completed; broken: it ended otherwise. */
export type DependencyState = 'waiting' | 'satisfied' | 'broken';

/** An edge of a chain or graph as it is shown. */
export interface DependencyView extends NewDependency {
  readonly state: DependencyState;
}

interface EdgeRow {
  readonly parent_id: string;
  readonly child_id: string;
  readonly on_failure: OnParentFailure;
  readonly state: DependencyState;
}

/** What a job waits or waited for. */
export async function listParentEdges(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<readonly DependencyView[]> {
  const values = [key.projectId, key.id];
  return (await db.query<EdgeRow>(statements.listParentEdges, values)).map(toDependency);
}

/** A job of a chain or graph as it is shown. */
export interface BatchJobView {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
}

/** The jobs of a chain or graph, without its callbacks, in the order in which they were made. */
export function listBatchJobs(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<readonly BatchJobView[]> {
  return db.query<BatchJobView>(statements.listBatchJobs, [key.projectId, key.id]);
}

/** The edges of a chain or graph. */
export async function listBatchDependencies(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<readonly DependencyView[]> {
  const values = [key.projectId, key.id];
  return (await db.query<EdgeRow>(statements.listBatchDependencies, values)).map(toDependency);
}

function toDependency(row: EdgeRow): DependencyView {
  return {
    parentId: row.parent_id,
    childId: row.child_id,
    onFailure: row.on_failure,
    state: row.state,
  };
}
