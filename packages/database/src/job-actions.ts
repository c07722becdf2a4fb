import type { JobStatus } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Statement } from './generated/statements.ts';
import { readJobStatus } from './job-reading.ts';
import type { JobKey } from './job-reading.ts';
import type { Queryable } from './queryable.ts';
import { reviveFollowers } from './reviving.ts';
import { reacquireUniqueKeys } from './unique-locks.ts';

/** What a person's action on a job came to. */
export type JobActionResult =
  | { readonly done: true; readonly queueId: string }
  | { readonly done: false; readonly reason: 'not_found' }
  | { readonly done: false; readonly reason: 'not_in_state'; readonly status: JobStatus };

/** What a cancel came to: ended at once, or asked of the worker that runs the job. */
export type CancelResult =
  | { readonly cancelled: true }
  | { readonly cancelled: false; readonly requestedOf: string }
  | { readonly cancelled: false; readonly reason: 'not_found' }
  | { readonly cancelled: false; readonly reason: 'not_in_state'; readonly status: JobStatus };

/** A job may move between two looks at it; each round looks again. */
const maxLooks = 5;

/**
 * Cancels a job: queued, scheduled and resting failed jobs end at once; for one that a worker holds the cancel is
 * requested, and the worker ends it.
 */
export async function cancelJob(
  db: Queryable,
  key: JobKey & { readonly reason: string },
): Promise<CancelResult> {
  let status: JobStatus | undefined;
  for (let look = 0; look < maxLooks; look += 1) {
    const { projectId, id, reason } = key;
    const ended = await cancelWaitingJobs(db, { projectId, ids: [id], reason });
    if (ended.length > 0) return { cancelled: true };
    const [held] = await db.query<{ readonly worker_id: string }>(statements.requestCancel, [
      projectId,
      id,
      reason,
    ]);
    if (held !== undefined) return { cancelled: false, requestedOf: held.worker_id };
    status = await readJobStatus(db, key);
    if (status === undefined) return { cancelled: false, reason: 'not_found' };
    if (status === 'completed' || status === 'cancelled' || status === 'dead_letter') break;
  }
  return status === undefined
    ? { cancelled: false, reason: 'not_found' }
    : { cancelled: false, reason: 'not_in_state', status };
}

/**
 * Ends jobs that no worker holds; the others stay as they are.
 *
 * @returns the ids of those that ended.
 */
export async function cancelWaitingJobs(
  db: Queryable,
  request: { readonly projectId: string; readonly ids: readonly string[]; readonly reason: string },
): Promise<readonly string[]> {
  const rows = await db.query<{ readonly id: string }>(statements.cancelJobs, [
    request.projectId,
    plainArray(request.ids),
    request.reason,
    '{}',
  ]);
  return rows.map(({ id }) => id);
}

/** Queues a job that rests in `failed` under the manual retry policy; its counts start again. */
export function retryJob(db: Queryable, key: JobKey): Promise<JobActionResult> {
  return act(db, statements.retryJob, key);
}

/** Queues a scheduled job that need not wait any longer. */
export function runJobNow(db: Queryable, key: JobKey): Promise<JobActionResult> {
  return act(db, statements.runJobNow, key);
}

/** What a replay came to: its unique key may be held by another job. */
export type ReplayResult =
  | JobActionResult
  | { readonly done: false; readonly reason: 'unique_key_held'; readonly holderId: string };

/**
 * Queues a dead letter again, under the same id and a new generation; its counts start again. The jobs that its death
 * had cancelled wait for it again, and its batch is open again. A unique key is taken again, for as long as at first.
 */
export function replayJob(database: Database, key: JobKey): Promise<ReplayResult> {
  return database.transaction(async (tx) => {
    const { projectId, id } = key;
    // Before the job's row, as whoever takes a key does.
    const holderId = (await reacquireUniqueKeys(tx, { projectId, ids: [id] })).get(id);
    if (holderId !== undefined) return { done: false, reason: 'unique_key_held', holderId };
    const [row] = await tx.query<ReplayedRow>(statements.replayJob, [projectId, id]);
    if (row === undefined) return refusal(tx, key);
    if (row.batch_id !== null || row.has_children) {
      const job = { id, batchId: row.batch_id ?? undefined, hasChildren: row.has_children };
      await reviveFollowers(tx, { projectId, job });
    }
    return { done: true, queueId: row.queue_id };
  });
}

interface ReplayedRow {
  readonly queue_id: string;
  readonly batch_id: string | null;
  readonly has_children: boolean;
}

/** What may be changed of a job that no worker has started; absent fields stay. */
export interface JobEdit {
  readonly payloadJson?: string | undefined;
  /** Which shape the payload has. */
  readonly payloadVersion?: number | undefined;
  readonly priority?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadataJson?: string | undefined;
  readonly maxAttempts?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Only for a scheduled job. */
  readonly runAt?: Date | undefined;
}

/** Changes a queued or scheduled job. */
export async function editJob(
  db: Queryable,
  key: JobKey & { readonly edit: JobEdit },
): Promise<JobActionResult> {
  const { edit } = key;
  const [row] = await db.query<{ readonly queue_id: string }>(statements.editJob, [
    key.projectId,
    key.id,
    edit.payloadJson ?? null,
    edit.priority ?? null,
    edit.tags ?? null,
    edit.metadataJson ?? null,
    edit.maxAttempts ?? null,
    edit.timeoutMs ?? null,
    edit.runAt ?? null,
    edit.payloadVersion ?? null,
  ]);
  return row === undefined ? refusal(db, key) : { done: true, queueId: row.queue_id };
}

async function act(db: Queryable, statement: Statement, key: JobKey): Promise<JobActionResult> {
  const [row] = await db.query<{ readonly queue_id: string }>(statement, [key.projectId, key.id]);
  return row === undefined ? refusal(db, key) : { done: true, queueId: row.queue_id };
}

async function refusal(db: Queryable, key: JobKey): Promise<JobActionResult> {
  const status = await readJobStatus(db, key);
  return status === undefined
    ? { done: false, reason: 'not_found' }
    : { done: false, reason: 'not_in_state', status };
}

/**
 * Cancels the queued and scheduled jobs that are in a queue now, page by page; answers how many. One that a worker
 * claims meanwhile has started, and runs on.
 */
export async function purgeQueue(
  db: Queryable,
  request: { readonly projectId: string; readonly queueId: string; readonly reason: string },
): Promise<number> {
  const { projectId, queueId, reason } = request;
  const [begin] = await db.query<{ readonly begun_at: string }>(statements.beginPurge);
  let count = 0;
  for (;;) {
    const values = [projectId, queueId, 500, begin?.begun_at ?? null];
    const rows = await db.query<{ readonly id: string }>(statements.listPurgeableJobs, values);
    if (rows.length === 0) return count;
    const ids = rows.map(({ id }) => id);
    count += (await cancelWaitingJobs(db, { projectId, ids, reason })).length;
  }
}
