import type { QueueJobDefaults } from './queue-directory.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
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

/** What ended in a stretch of time; bucket i of a histogram counts durations up to 2^(i/2) milliseconds. */
export interface RateRow {
  readonly completed: number;
  readonly failed: number;
  readonly dead_lettered: number;
  /** Bigints as text. */
  readonly wait_buckets: readonly string[] | null;
  readonly run_buckets: readonly string[] | null;
}

/** What ended in the last `windowMs`, by queue. */
export async function readQueueRates(
  db: Queryable,
  request: { readonly projectId: string; readonly windowMs: number },
): Promise<readonly (RateRow & { readonly queue_id: string })[]> {
  const values = [request.projectId, request.windowMs];
  return db.query<RateRow & { readonly queue_id: string }>(statements.readQueueRates, values);
}

/** What ended in one step. */
export interface TimeseriesRow extends RateRow {
  readonly at: Date;
  readonly cancelled: number;
}

/** A stretch of time in equal steps. */
export interface TimeseriesRequest {
  readonly projectId: string;
  readonly queueId?: string | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly stepMs: number;
}

/** What ended, step by step; steps in which nothing ended are left out. */
export async function readTimeseries(
  db: Queryable,
  request: TimeseriesRequest,
): Promise<readonly TimeseriesRow[]> {
  const { projectId, queueId, from, to, stepMs } = request;
  const values = [projectId, from, to, stepMs, queueId ?? null];
  return db.query<TimeseriesRow>(statements.readTimeseries, values);
}

/** A worker process with the jobs that it holds. */
export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly build: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Names, or `*`. */
  readonly queues: readonly string[];
  readonly types: readonly string[];
  readonly slots: number;
  readonly status: 'active' | 'quiet' | 'stopping';
  readonly requested_status: 'active' | 'quiet' | 'stopping' | null;
  /** A bigint as text. */
  readonly rss_bytes: string;
  readonly loop_lag_ms: number;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  readonly lost: boolean;
  readonly running: readonly string[];
}

/** The workers that run, and those that fell silent within the last hour. */
export async function listWorkers(db: Queryable, projectId: string): Promise<readonly WorkerRow[]> {
  return db.query<WorkerRow>(statements.listWorkers, [projectId, null]);
}

/** One worker. */
export async function readWorker(
  db: Queryable,
  worker: { readonly projectId: string; readonly id: string },
): Promise<WorkerRow | undefined> {
  const [row] = await db.query<WorkerRow>(statements.listWorkers, [worker.projectId, worker.id]);
  return row;
}

/** Instants of the last day that no job was made for, by the schedule's name. */
export async function countMissedFires(
  db: Queryable,
  projectId: string,
): Promise<readonly { readonly name: string; readonly fire_count: number }[]> {
  return db.query<{ name: string; fire_count: number }>(statements.countMissedFires, [projectId]);
}

/** The time of the database's clock. */
export async function readClock(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(statements.readClock);
  if (row === undefined) throw new Error('The database did not answer its time');
  return row.now;
}

/** The version of the schema as applied; 0 when there is none. */
export async function readAppliedVersion(db: Queryable): Promise<number> {
  const [row] = await db.query<{ version: number }>(statements.readSchemaVersion);
  return row?.version ?? 0;
}
