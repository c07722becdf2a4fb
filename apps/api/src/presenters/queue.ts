import type { Queue } from '@holdfast/contract';
import type { QueueView } from '@holdfast/database';
import { formatDuration } from '@holdfast/domain';
import { presentBackoff } from './backoff.ts';
import { presentRetryEnd, presentInstant, presentMaybe } from './instant.ts';

/** A queue as answered. */
export function presentQueue(queue: QueueView): Queue {
  return {
    name: queue.name,
    paused: presentPause(queue),
    concurrency: queue.concurrency ?? null,
    maxAttempts: queue.maxAttempts,
    timeout: formatDuration(queue.timeoutMs),
    backoff: presentBackoff(queue.backoff),
    retry: queue.retry,
    retryUntil: queue.retryUntil === undefined ? null : presentRetryEnd(queue.retryUntil),
    maxExceptions: queue.maxExceptions ?? null,
    counts: queue.counts,
    oldestWaitMs: queue.oldestWaitMs ?? null,
    createdAt: presentInstant(queue.createdAt),
    updatedAt: presentInstant(queue.updatedAt),
  };
}

function presentPause({ paused }: QueueView): Queue['paused'] {
  if (paused === undefined) return null;
  return {
    at: presentInstant(paused.at),
    by: paused.by ?? null,
    reason: paused.reason ?? null,
    until: presentMaybe(paused.until),
  };
}
