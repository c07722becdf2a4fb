import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

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
