import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import type { QueueJobDefaults } from './queue-directory.ts';
import type { QueueKey } from './queues.ts';

/** A queue with its settings and counts. */
export interface QueueRow {
  readonly id: string;
  readonly name: string;
  readonly concurrency: number | null;
  readonly job_defaults: QueueJobDefaults;
  readonly paused_at: Date | null;
  readonly paused_by: string | null;
  readonly paused_reason: string | null;
  readonly paused_until: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** A bigint as text. */
  readonly revision: string;
  readonly queued: number;
  readonly scheduled: number;
  readonly claimed: number;
  readonly running: number;
  readonly failed: number;
  readonly dead_letter: number;
  readonly oldest_wait_ms: number | null;
}

/** A page of queues by name. */
export async function listQueues(
  db: Queryable,
  page: {
    readonly projectId: string;
    readonly afterName?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly QueueRow[]> {
  const values = [page.projectId, page.afterName ?? null, page.limit, null];
  return db.query<QueueRow>(statements.listQueues, values);
}

/** One queue with its settings and counts. */
export async function readQueue(db: Queryable, queue: QueueKey): Promise<QueueRow | undefined> {
  const values = [queue.projectId, null, 1, queue.name];
  const [row] = await db.query<QueueRow>(statements.listQueues, values);
  return row;
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

/** How many jobs of a queue are under a lease. */
export async function countLeasedJobs(db: Queryable, queueId: string): Promise<number> {
  const [row] = await db.query<{ job_count: number }>(statements.countLeasedJobs, [queueId]);
  return row?.job_count ?? 0;
}
