import { jobLimits, retryModes, tagForm } from '@holdfast/domain';
import type { UniqueSettings } from '@holdfast/domain';
import { z } from 'zod';
import { BackoffInput } from './backoff.ts';
import { UniqueInput } from './unique.ts';
import {
  DeadlineInput,
  DelayInput,
  InstantInput,
  Json,
  JsonObject,
  Name,
  Reason,
  durationInput,
} from './values.ts';

/** 0 is first, 9 last. */
export const Priority = z.int().min(0).max(jobLimits.lastPriority);

/** How often a job is tried before it becomes a dead letter. */
export const MaxAttempts = z.int().min(1).max(jobLimits.maxAttempts);

/** How long one attempt may run. */
export const TimeoutInput = durationInput({ minMs: 1_000, maxMs: jobLimits.timeoutMs });

/** Which version of its shape a payload has. */
export const PayloadVersion = z.int().min(1).max(jobLimits.payloadVersion).meta({
  description:
    'Which version of its shape the payload has: only workers that know it take the job.',
});

const Tag = z
  .string()
  .regex(tagForm, 'must be 1 to 64 characters, none of them a control character');

/** Words to find a job by. */
export const Tags = z
  .array(Tag)
  .max(jobLimits.tagCount)
  .refine((tags) => new Set(tags).size === tags.length, 'must not repeat a tag')
  .readonly();

const Metadata = JsonObject.refine(
  (metadata) => JSON.stringify(metadata).length <= jobLimits.metadataBytes,
  'must be at most 8 kB of JSON',
);

/** Everything that may be said of one job. */
export const jobFields = {
  type: Name,
  queue: Name.default('default'),
  payload: Json.optional(),
  payloadVersion: PayloadVersion.default(1),
  priority: Priority.optional(),
  delay: DelayInput.nullish(),
  runAt: InstantInput.nullish(),
  maxAttempts: MaxAttempts.optional(),
  timeout: TimeoutInput.optional(),
  backoff: BackoffInput.optional(),
  retry: z.enum(retryModes).optional(),
  tags: Tags.default([]),
  metadata: Metadata.default({}),
};

/** How often the handler of a job may throw. */
export const MaxExceptions = z.int().min(1).max(100).meta({
  description: 'How often its handler may throw; timeouts do not count, `maxAttempts` holds too.',
});

/** Until when a job is tried, and how often it may throw. */
export const retryLimitFields = {
  maxExceptions: MaxExceptions.optional(),
  retryUntil: DeadlineInput.nullish().meta({
    description: 'No retry begins after it: a duration from its creation on, or an instant.',
  }),
};

/** What limits a job that is enqueued now. */
export const jobLimitFields = {
  startDeadline: DeadlineInput.nullish().meta({
    description: 'Cancelled when no worker has claimed it by then.',
  }),
  ...retryLimitFields,
};

/** `POST …/jobs`: one job to enqueue. Only `type` is required; a past `runAt` means now. */
export const JobInput = z
  .strictObject({ ...jobFields, ...jobLimitFields, unique: UniqueInput.optional() })
  .refine(hasOneTime, { path: ['runAt'], error: 'must not be set together with delay' })
  .refine(hasOneWait, {
    path: ['unique', 'wait'],
    error: 'is the delay of debounce; delay and runAt must not be set besides',
  })
  .meta({ id: 'JobInput' });

function hasOneWait(job: {
  readonly delay?: unknown;
  readonly runAt?: unknown;
  readonly unique?: UniqueSettings | undefined;
}): boolean {
  return job.unique?.onConflict !== 'debounce' || (job.delay == null && job.runAt == null);
}

/** Whether a job says at most once when it is due. */
export function hasOneTime(job: { readonly delay?: unknown; readonly runAt?: unknown }): boolean {
  return job.delay == null || job.runAt == null;
}

/** One job to enqueue, as the API has read it. */
export type JobInput = z.output<typeof JobInput>;

/** The most jobs that one bulk request may have. */
export const maxBulkJobs = 10_000;

/** `POST …/jobs/bulk`: all of them are enqueued, or none. The same jobs may be sent as NDJSON, one a line. */
export const BulkJobsInput = z.strictObject({
  jobs: z.array(JobInput).min(1).max(maxBulkJobs).readonly(),
});

/** `PATCH …/jobs/{id}`: what can be changed while the job has not started. */
export const JobPatch = z
  .strictObject({
    payload: Json.optional(),
    payloadVersion: PayloadVersion.optional().meta({
      description: 'Of the payload; left out, it stays as it was, also with a new payload.',
    }),
    priority: Priority.optional(),
    runAt: InstantInput.optional(),
    tags: Tags.optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, 'must change something');

/** What can be changed in a job that has not started. */
export type JobPatch = z.output<typeof JobPatch>;

/** The body of an action that may say why. */
export const ActionInput = z.strictObject({ reason: Reason.optional() });

/** The body of an action that has no options. */
export const EmptyInput = z.strictObject({});
