import type { JobRequest } from '../job-definition.ts';

/** Whether the value is what `job.with(payload)` gives. */
export function isJobRequest(value: unknown): value is JobRequest {
  if (typeof value !== 'object' || value === null) return false;
  if (!('job' in value && 'payload' in value && 'options' in value)) return false;
  const { job, options } = value;
  if (typeof options !== 'object' || options === null) return false;
  return typeof job === 'object' && job !== null && 'type' in job && typeof job.type === 'string';
}
