import type { JobTemplate, ScheduledJobTemplate } from '@holdfast/database';
import { defaultRetryPolicy, shownRetry } from '@holdfast/domain';
import type { ShownRetry } from '@holdfast/domain';
import type { JobFields } from './job-fields.ts';

/** A job that is made later, as it is shown: what is `undefined` is what its queue says. Durations in milliseconds. */
export interface JobTemplateInfo {
  readonly type: string;
  readonly queue: string;
  readonly priority: number | undefined;
  readonly maxAttempts: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly retry: ShownRetry['retry'] | undefined;
  readonly backoff: ShownRetry['backoff'] | undefined;
  /** No retry begins after it: an instant, or milliseconds from the job's creation on. */
  readonly retryUntil: ShownRetry['retryUntil'];
  /** How often its handler may throw; timeouts do not count. */
  readonly maxExceptions: ShownRetry['maxExceptions'];
  readonly tags: readonly string[] | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** Which version of its shape the payload has. */
  readonly payloadVersion: number;
}

/** A stored template for users. */
export function toTemplateInfo(template: Omit<JobTemplate, 'payload'>): JobTemplateInfo {
  const { type, queue, priority, maxAttempts, timeoutMs, tags, metadata } = template;
  const { payloadVersion = 1 } = template;
  const shown = template.retry === undefined ? undefined : shownRetry(template.retry);
  return {
    ...{ type, queue, priority, maxAttempts, timeoutMs, tags },
    ...{ retry: shown?.retry, backoff: shown?.backoff },
    ...{ retryUntil: shown?.retryUntil, maxExceptions: shown?.maxExceptions },
    // Checked to be an object when it was written.
    metadata: metadata as Readonly<Record<string, unknown>> | undefined,
    payloadVersion,
  };
}

/** What is stored of a job that is made later, without type, queue and payload. */
export type TemplateSettings = Omit<ScheduledJobTemplate, 'type' | 'queue' | 'payload'>;

/** The fields of a job that is made later, in stored form. */
export function templateSettingsOf(fields: JobFields): TemplateSettings {
  const { priority, maxAttempts, timeoutMs, retry, tags, metadataJson } = fields;
  const { payloadVersion = 1 } = fields;
  const isRetryNamed = Object.keys(retry).length > 0;
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(isRetryNamed ? { retry: { ...defaultRetryPolicy, ...retry } } : {}),
    ...(tags === undefined ? {} : { tags }),
    ...(payloadVersion === 1 ? {} : { payloadVersion }),
    ...(metadataJson === undefined ? {} : { metadata: JSON.parse(metadataJson) as unknown }),
  };
}
