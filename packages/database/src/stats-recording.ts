import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** Durations are counted in this many buckets; bucket i holds those up to 2^(i/2) ms, the last one all the rest. */
export const durationBucketCount = 48;

/** The bucket of a duration. */
export function durationBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(durationBucketCount - 1, Math.ceil(2 * Math.log2(ms)));
}

/** The longest duration in a bucket, in milliseconds. */
export function durationBucketUpperMs(bucket: number): number {
  return 2 ** (bucket / 2);
}

/** What happened in one queue since the last report. */
export interface QueueStats {
  readonly queueId: string;
  readonly completed: number;
  /** Failed attempts, whether tried again or not. */
  readonly failed: number;
  readonly deadLetter: number;
  readonly cancelled: number;
  readonly waitMsSum: number;
  readonly runMsSum: number;
  /** {@link durationBucketCount} counts. */
  readonly waitBuckets: readonly number[];
  readonly runBuckets: readonly number[];
}

/** Adds counts to this minute's rows of the shard (the worker's id). */
export async function recordStats(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly shard: string;
    readonly stats: readonly QueueStats[];
  },
): Promise<void> {
  const { stats } = request;
  if (stats.length === 0) return;
  const column = (pick: (entry: QueueStats) => string | number): string =>
    plainArray(stats.map(pick));
  await db.query(statements.recordStats, [
    request.projectId,
    request.shard,
    column((entry) => entry.queueId),
    column((entry) => entry.completed),
    column((entry) => entry.failed),
    column((entry) => entry.deadLetter),
    column((entry) => entry.cancelled),
    column((entry) => entry.waitMsSum),
    column((entry) => entry.runMsSum),
    textArray(stats.map((entry) => plainArray(entry.waitBuckets))),
    textArray(stats.map((entry) => plainArray(entry.runBuckets))),
  ]);
}
