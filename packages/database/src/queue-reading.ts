import {
  claimName,
  defaultRetryPolicy,
  jobDefaults as systemDefaults,
  shownRetry,
} from '@holdfast/domain';
import type { ShownRetry } from '@holdfast/domain';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import { readJobDefaults } from './queue-directory.ts';
import type { QueueJobDefaults } from './queue-directory.ts';
import type { QueueKey } from './queues.ts';

/** How many jobs of a queue stand in each status that can still change. */
export type QueueCounts = Readonly<
  Record<'queued' | 'scheduled' | 'claimed' | 'running' | 'failed' | 'deadLetter', number>
>;

/**
 * A queue with its settings and counts, as it was when it was read. What it says for jobs that say nothing themselves has the
 * defaults in it.
 */
export interface QueueView extends ShownRetry {
  /** A bigint as text. */
  readonly id: string;
  readonly name: string;
  /** How many of its jobs may run at once in all workers together; `undefined`: no limit. */
  readonly concurrency: number | undefined;
  readonly maxAttempts: number;
  readonly timeoutMs: number;
  readonly paused:
    | {
        readonly at: Date;
        readonly by: string | undefined;
        readonly reason: string | undefined;
        readonly until: Date | undefined;
      }
    | undefined;
  readonly counts: QueueCounts;
  /** How long the first job in line has been due, in milliseconds; `undefined`: there is none. */
  readonly oldestWaitMs: number | undefined;
  /** What that job has to be claimed by, see `claimName`. */
  readonly firstInLine: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** A bigint as text. */
  readonly revision: string;
  /** The settings as they are stored. */
  readonly jobDefaults: QueueJobDefaults;
}

interface QueueRow {
  readonly id: string;
  readonly name: string;
  readonly concurrency: number | null;
  readonly job_defaults: unknown;
  readonly paused_at: Date | null;
  readonly paused_by: string | null;
  readonly paused_reason: string | null;
  readonly paused_until: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly revision: string;
  readonly queued: number;
  readonly scheduled: number;
  readonly claimed: number;
  readonly running: number;
  readonly failed: number;
  readonly dead_letter: number;
  readonly oldest_wait_ms: number | null;
  readonly head_type: string | null;
  readonly head_version: number;
}

/** A page of queues by name. */
export async function listQueues(
  db: Queryable,
  page: {
    readonly projectId: string;
    readonly afterName?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly QueueView[]> {
  const values = [page.projectId, page.afterName ?? null, page.limit, null];
  return (await db.query<QueueRow>(statements.listQueues, values)).map(toView);
}

/** One queue with its settings and counts. */
export async function readQueue(db: Queryable, queue: QueueKey): Promise<QueueView | undefined> {
  const values = [queue.projectId, null, 1, queue.name];
  const [row] = await db.query<QueueRow>(statements.listQueues, values);
  return row && toView(row);
}

function toView(row: QueueRow): QueueView {
  const jobDefaults = readJobDefaults(row.job_defaults);
  const { oldest_wait_ms: oldestWaitMs } = row;
  return {
    ...{ id: row.id, name: row.name, revision: row.revision, jobDefaults },
    concurrency: row.concurrency ?? undefined,
    maxAttempts: jobDefaults.maxAttempts ?? systemDefaults.maxAttempts,
    timeoutMs: jobDefaults.timeoutMs ?? systemDefaults.timeoutMs,
    ...shownRetry(jobDefaults.retry ?? defaultRetryPolicy),
    paused: toPause(row),
    counts: {
      queued: row.queued,
      scheduled: row.scheduled,
      claimed: row.claimed,
      running: row.running,
      failed: row.failed,
      deadLetter: row.dead_letter,
    },
    firstInLine: row.head_type === null ? undefined : claimName(row.head_type, row.head_version),
    oldestWaitMs: oldestWaitMs === null ? undefined : Math.max(0, Math.round(oldestWaitMs)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toPause(row: QueueRow): QueueView['paused'] {
  if (row.paused_at === null) return undefined;
  return {
    at: row.paused_at,
    by: row.paused_by ?? undefined,
    reason: row.paused_reason ?? undefined,
    until: row.paused_until ?? undefined,
  };
}

/** The id (a bigint as text) and revision of a queue that exists. */
export async function findQueue(
  db: Queryable,
  queue: QueueKey,
): Promise<{ readonly id: string; readonly revision: string } | undefined> {
  const values = [queue.projectId, queue.name];
  const [row] = await db.query<{ id: string; revision: string }>(statements.findQueue, values);
  return row;
}

/** The id (a bigint as text) of a queue to filter jobs by, of a deleted one too. */
export async function lookUpQueue(
  db: Queryable,
  { projectId, name }: QueueKey,
): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(statements.lookUpQueue, [projectId, name]);
  return row?.id;
}

/** How many jobs of a queue are under a lease. */
export async function countLeasedJobs(db: Queryable, queueId: string): Promise<number> {
  const [row] = await db.query<{ job_count: number }>(statements.countLeasedJobs, [queueId]);
  return row?.job_count ?? 0;
}
