import type { ScheduleInput } from '@holdfast/contract';
import type { ScheduledJobTemplate } from '@holdfast/database';
import { defaultRetryPolicy } from '@holdfast/domain';

/** A job that is made later, as sent. */
export type TemplateInput = Omit<ScheduleInput['job'], 'payload'> & {
  readonly delay?: number | undefined;
};

/** A job that is made later, in stored form, without its payload. */
export function templateOf({
  timeout,
  backoff,
  retry,
  delay,
  ...job
}: TemplateInput): Omit<ScheduledJobTemplate, 'payload'> & { readonly delayMs?: number } {
  const isRetryNamed = backoff !== undefined || retry !== undefined;
  return {
    type: job.type,
    queue: job.queue,
    ...(job.priority === undefined ? {} : { priority: job.priority }),
    ...(job.maxAttempts === undefined ? {} : { maxAttempts: job.maxAttempts }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(isRetryNamed
      ? {
          retry: {
            mode: retry ?? defaultRetryPolicy.mode,
            backoff: backoff ?? defaultRetryPolicy.backoff,
          },
        }
      : {}),
    ...(job.tags === undefined ? {} : { tags: job.tags }),
    ...(job.metadata === undefined ? {} : { metadata: job.metadata }),
    ...(delay === undefined ? {} : { delayMs: delay }),
  };
}
