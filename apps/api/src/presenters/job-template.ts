import type { EventSubscription } from '@holdfast/contract';
import type { ListenerTemplate } from '@holdfast/database';
import { formatDuration, shownRetry } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import { presentBackoff } from './backoff.ts';
import { presentRetryEnd } from './instant.ts';

/** A job that is made later, as answered, without its payload. */
export function presentTemplate(job: ListenerTemplate): NonNullable<EventSubscription['job']> {
  return {
    type: job.type,
    queue: job.queue,
    payloadVersion: job.payloadVersion ?? 1,
    ...(job.priority === undefined ? {} : { priority: job.priority }),
    ...(job.maxAttempts === undefined ? {} : { maxAttempts: job.maxAttempts }),
    ...(job.timeoutMs === undefined ? {} : { timeout: formatDuration(job.timeoutMs) }),
    ...(job.retry === undefined ? {} : presentRetry(job.retry)),
    ...(job.tags === undefined ? {} : { tags: job.tags }),
    // Checked to be an object when it was written.
    ...(job.metadata === undefined ? {} : { metadata: job.metadata as Record<string, unknown> }),
    ...(job.delayMs === undefined ? {} : { delay: formatDuration(job.delayMs) }),
  };
}

function presentRetry(policy: RetryPolicy) {
  const { retry, backoff, retryUntil, maxExceptions } = shownRetry(policy);
  return {
    ...{ retry, backoff: presentBackoff(backoff) },
    ...(retryUntil === undefined ? {} : { retryUntil: presentRetryEnd(retryUntil) }),
    ...(maxExceptions === undefined ? {} : { maxExceptions }),
  };
}
