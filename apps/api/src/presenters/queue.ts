import type { Queue } from '@holdfast/contract';
import type { QueueRow } from '@holdfast/database';
import { defaultRetryPolicy, formatDuration } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import { presentBackoff } from './backoff.ts';
import { presentInstant, presentMaybe } from './instant.ts';

const defaultMaxAttempts = 5;
const defaultTimeoutMs = 300_000;

/** The counts of a queue as answered. */
export function presentCounts(row: QueueRow): Queue['counts'] {
  return {
    queued: row.queued,
    scheduled: row.scheduled,
    claimed: row.claimed,
    running: row.running,
    failed: row.failed,
    deadLetter: row.dead_letter,
  };
}

/** A queue as answered. */
export function presentQueue(row: QueueRow): Queue {
  const { job_defaults: defaults } = row;
  const retry = storedRetry(row);
  return {
    name: row.name,
    paused: presentPause(row),
    concurrency: row.concurrency,
    retry: {
      policy: retry.mode,
      maxAttempts: defaults.maxAttempts ?? defaultMaxAttempts,
      timeout: formatDuration(defaults.timeoutMs ?? defaultTimeoutMs),
      backoff: presentBackoff(retry.backoff),
    },
    counts: presentCounts(row),
    oldestWaitMs: row.oldest_wait_ms === null ? null : Math.max(0, Math.round(row.oldest_wait_ms)),
    createdAt: presentInstant(row.created_at),
    updatedAt: presentInstant(row.updated_at),
  };
}

/** The retry policy of a queue's jobs that name none. */
export function storedRetry(row: QueueRow): RetryPolicy {
  // Written by this API and the SDK only, in the form of the domain.
  return (row.job_defaults.retry as RetryPolicy | null | undefined) ?? defaultRetryPolicy;
}

function presentPause(row: QueueRow): Queue['paused'] {
  if (row.paused_at === null) return null;
  return {
    at: presentInstant(row.paused_at),
    by: row.paused_by,
    reason: row.paused_reason,
    until: presentMaybe(row.paused_until),
  };
}
