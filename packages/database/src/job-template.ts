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

/** A job as a template, for a moment that has not come; unique keys, instants and deadlines are left out. */
export function templateOfJob(job: NewJob): JobTemplate {
  const { type, queue, priority, maxAttempts, timeoutMs, retry, tags, delayMs } = job;
  const { payloadJson, metadataJson } = job;
  return {
    ...{ type, queue, priority, maxAttempts, timeoutMs, retry, tags, delayMs },
    payload: JSON.parse(payloadJson) as unknown,
    metadata: metadataJson === undefined ? undefined : (JSON.parse(metadataJson) as unknown),
  };
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
