import type { ScheduleInput } from '@holdfast/contract';
import type { ScheduledJobTemplate } from '@holdfast/database';
import { defaultRetryPolicy } from '@holdfast/domain';
import { retryFromInput } from './retry-from-input.ts';

/** A job that is made later, as sent. */
export type TemplateInput = Omit<ScheduleInput['job'], 'payload'> & {
  readonly delay?: number | undefined;
};

/** A job that is made later, in stored form, without its payload. */
export function templateOf(
  job: TemplateInput,
): Omit<ScheduledJobTemplate, 'payload'> & { readonly delayMs?: number } {
  const retry = retryFromInput({ ...job, retryUntil: job.retryUntil ?? undefined });
  return {
    type: job.type,
    queue: job.queue,
    ...((job.payloadVersion ?? 1) === 1 ? {} : { payloadVersion: job.payloadVersion }),
    ...(job.priority === undefined ? {} : { priority: job.priority }),
    ...(job.maxAttempts === undefined ? {} : { maxAttempts: job.maxAttempts }),
    ...(job.timeout === undefined ? {} : { timeoutMs: job.timeout }),
    ...(retry === undefined ? {} : { retry: { ...defaultRetryPolicy, ...retry } }),
    ...(job.tags === undefined ? {} : { tags: job.tags }),
    ...(job.metadata === undefined ? {} : { metadata: job.metadata }),
    ...(job.delay === undefined ? {} : { delayMs: job.delay }),
  };
}
