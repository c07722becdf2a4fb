import { durationBucketUpperMs } from '@holdfast/database';

/** A histogram as stored: counts by bucket of duration. */
export type Buckets = readonly number[];

/** The counts of a stored histogram as numbers. */
export function readBuckets(stored: readonly string[] | null): Buckets {
  return (stored ?? []).map(Number);
}

/** Adds two histograms. */
export function addBuckets(left: Buckets, right: Buckets): Buckets {
  const length = Math.max(left.length, right.length);
  return Array.from({ length }, (_, index) => (left[index] ?? 0) + (right[index] ?? 0));
}

/** The 50th and 95th percentile, in whole milliseconds; null when nothing was counted. */
export function percentilesOf(buckets: Buckets): {
  readonly p50: number | null;
  readonly p95: number | null;
} {
  return { p50: percentile(buckets, 0.5), p95: percentile(buckets, 0.95) };
}

// Within its bucket a duration may be anywhere: the place is taken as if they were spread evenly.
function percentile(buckets: Buckets, share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [index, count] of buckets.entries()) {
    if (left <= count) {
      const low = index === 0 ? 0 : durationBucketUpperMs(index - 1);
      return Math.round(low + (durationBucketUpperMs(index) - low) * (left / count));
    }
    left -= count;
  }
  return null;
}
