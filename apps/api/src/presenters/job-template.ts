import type { EventSubscription } from '@holdfast/contract';
import type { ListenerTemplate } from '@holdfast/database';
import { formatDuration } from '@holdfast/domain';
import { presentBackoff } from './backoff.ts';

/** A job that is made later, as answered, without its payload. */
export function presentTemplate(job: ListenerTemplate): NonNullable<EventSubscription['job']> {
  const { retry } = job;
  return {
    type: job.type,
    queue: job.queue,
    ...(job.priority === undefined ? {} : { priority: job.priority }),
    ...(job.maxAttempts === undefined ? {} : { maxAttempts: job.maxAttempts }),
    ...(job.timeoutMs === undefined ? {} : { timeout: formatDuration(job.timeoutMs) }),
    ...(retry === undefined ? {} : { backoff: presentBackoff(retry.backoff), retry: retry.mode }),
    ...(job.tags === undefined ? {} : { tags: job.tags }),
    // Checked to be an object when it was written.
    ...(job.metadata === undefined ? {} : { metadata: job.metadata as Record<string, unknown> }),
    ...(job.delayMs === undefined ? {} : { delay: formatDuration(job.delayMs) }),
  };
}
