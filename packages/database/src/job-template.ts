import type { RetryPolicy } from '@holdfast/domain';
import type { NewJob } from './enqueue.ts';

/** A job that is made later, in stored form: durations in milliseconds. */
export interface JobTemplate {
  readonly type: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly priority?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: unknown;
  /** From the moment that the job is made. */
  readonly delayMs?: number | undefined;
}

/** The job that a template stands for. */
export function jobOfTemplate(template: JobTemplate, id: string): NewJob {
  const { payload, metadata, ...same } = template;
  return {
    ...same,
    id,
    payloadJson: JSON.stringify(payload ?? {}),
    metadataJson: metadata === undefined ? undefined : JSON.stringify(metadata),
  };
}
