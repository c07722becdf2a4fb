import type { ScheduledJobTemplate } from '@holdfast/database';
import { defaultRetryPolicy } from '@holdfast/domain';
import type { JobFields } from './job-fields.ts';

/** What is stored of a job that is made later, without type, queue and payload. */
export type TemplateSettings = Omit<ScheduledJobTemplate, 'type' | 'queue' | 'payload'>;

/** The fields of a job that is made later, in stored form. */
export function templateSettingsOf(fields: JobFields): TemplateSettings {
  const { priority, maxAttempts, timeoutMs, retry, tags, metadataJson } = fields;
  const isRetryNamed = Object.keys(retry).length > 0;
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(isRetryNamed ? { retry: { ...defaultRetryPolicy, ...retry } } : {}),
    ...(tags === undefined ? {} : { tags }),
    ...(metadataJson === undefined ? {} : { metadata: JSON.parse(metadataJson) as unknown }),
  };
}
