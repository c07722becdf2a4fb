import { isName, isRecord, readStoredJobSettings } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import type { NewJob } from './enqueue.ts';

/** A job that is made later, in stored form: durations in milliseconds. */
export interface JobTemplate {
  readonly type: string;
  readonly queue: string;
  readonly payload: unknown;
  /** Which shape the payload has; default 1. */
  readonly payloadVersion?: number | undefined;
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
  const { payloadJson, payloadVersion, metadataJson } = job;
  return {
    ...{ payloadVersion, type, queue, priority, maxAttempts, timeoutMs, retry, tags, delayMs },
    payload: JSON.parse(payloadJson) as unknown,
    metadata: metadataJson === undefined ? undefined : (JSON.parse(metadataJson) as unknown),
  };
}

/** The type of jobs whose template was written in SQL without one: no worker has it, and people see that. */
export const missingType = 'unknown';

/** What is stored of a job that is made later; somebody may have written it in SQL. */
export function readStoredTemplate(stored: unknown): JobTemplate {
  const { type, queue, payload } = isRecord(stored) ? stored : {};
  return {
    ...readStoredJobSettings(stored),
    type: readStoredType(type),
    queue: typeof queue === 'string' && isName(queue) ? queue : 'default',
    payload,
  };
}

/** The stored type of a job that is made later. */
export function readStoredType(type: unknown): string {
  return typeof type === 'string' && isName(type) ? type : missingType;
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
