import { catchUps, fireOutcomes, maxDurationMs, overlaps, retryModes } from '@holdfast/domain';
import { z } from 'zod';
import {
  DurationText,
  Id,
  Instant,
  Json,
  JsonObject,
  Name,
  Reason,
  RetryEnd,
  durationInput,
} from './values.ts';
import { Backoff, BackoffInput } from './backoff.ts';
import {
  MaxAttempts,
  PayloadVersion,
  Priority,
  Tags,
  TimeoutInput,
  retryLimitFields,
} from './job-input.ts';
import { MaybeInstant, pageQuery } from './paging.ts';
import { Paused } from './queues.ts';

/** A cron expression of five fields; whether it is one is checked by the API. */
export const Cron = z
  .string()
  .min(1)
  .max(128)
  .meta({ examples: ['*/5 * * * *'] });

/** An IANA time zone; whether it is one is checked by the API. */
export const Timezone = z
  .string()
  .min(1)
  .max(64)
  .meta({ examples: ['Europe/Berlin'] });

const CatchUpWindow = durationInput({ minMs: 60_000, maxMs: 7 * 86_400_000 });

/** The job that a schedule enqueues at each instant. */
export const ScheduledJobInput = z.strictObject({
  type: Name,
  queue: Name.default('default'),
  payload: z.unknown().optional(),
  payloadVersion: PayloadVersion.optional(),
  priority: Priority.optional(),
  maxAttempts: MaxAttempts.optional(),
  timeout: TimeoutInput.optional(),
  backoff: BackoffInput.optional(),
  retry: z.enum(retryModes).optional(),
  ...retryLimitFields,
  tags: Tags.optional(),
  metadata: JsonObject.optional(),
});

/** A job that is made later, as answered: what is left out is what its queue says. */
export const JobTemplate = z.object({
  type: Name,
  queue: Name,
  payloadVersion: z.int(),
  priority: z.int().optional(),
  maxAttempts: z.int().optional(),
  timeout: DurationText.optional(),
  backoff: Backoff.optional(),
  retry: z.enum(retryModes).optional(),
  retryUntil: RetryEnd.optional(),
  maxExceptions: z.int().optional(),
  tags: z.array(z.string()).readonly().optional(),
  metadata: JsonObject.optional(),
});

/** A job that is made later, as answered. */
export type JobTemplate = z.infer<typeof JobTemplate>;

/** An interval, counted from the creation of the schedule. */
const Every = durationInput({ minMs: 1_000, maxMs: maxDurationMs });

const settings = {
  cron: Cron,
  every: Every,
  timezone: Timezone,
  job: ScheduledJobInput,
  catchUp: z.enum(catchUps),
  catchUpWindow: CatchUpWindow,
  overlap: z.enum(overlaps),
};

/** `POST …/schedules` */
export const ScheduleInput = z
  .strictObject({
    ...settings,
    name: Name,
    cron: Cron.optional(),
    every: Every.optional(),
    timezone: Timezone.default('UTC'),
    catchUp: z.enum(catchUps).optional(),
    catchUpWindow: CatchUpWindow.optional(),
    overlap: z.enum(overlaps).optional(),
  })
  .refine((schedule) => (schedule.cron === undefined) !== (schedule.every === undefined), {
    path: ['cron'],
    error: 'must be set, or else every; not both',
  })
  .meta({ id: 'ScheduleInput' });

/** A new schedule, as the API has read it. */
export type ScheduleInput = z.output<typeof ScheduleInput>;

/**
 * `PATCH …/schedules/{id}`: what is not named stays as it is; `job` is replaced as a whole; `cron` takes the place of
 * `every` and the other way round.
 */
export const SchedulePatch = z
  .strictObject(settings)
  .partial()
  .refine((patch) => Object.keys(patch).length > 0, 'must change something')
  .refine((patch) => patch.cron === undefined || patch.every === undefined, {
    path: ['every'],
    error: 'must not be set together with cron',
  });

/** A change of a schedule, as the API has read it. */
export type SchedulePatch = z.output<typeof SchedulePatch>;

/** `POST …/schedules/{id}/pause` */
export const SchedulePauseInput = z.strictObject({ reason: Reason });

/** `POST …/schedules/preview` */
export const PreviewInput = z.strictObject({
  cron: Cron,
  timezone: Timezone.default('UTC'),
  count: z.int().min(1).max(100).default(20),
});

/** One coming instant; `dstChange` marks a day on which the zone's offset changes. */
export const PreviewInstant = z.object({
  at: Instant,
  local: z.string(),
  offset: z.string(),
  dstChange: z.boolean(),
});

/** One coming instant. */
export type PreviewInstant = z.infer<typeof PreviewInstant>;

/** What became of one due instant of a schedule. */
export const ScheduleFire = z
  .object({
    fireAt: Instant,
    outcome: z.enum(fireOutcomes),
    jobId: Id.nullable(),
    recordedAt: Instant,
  })
  .meta({ id: 'ScheduleFire' });

/** What became of one due instant. */
export type ScheduleFire = z.infer<typeof ScheduleFire>;

/** A schedule. */
export const Schedule = z
  .object({
    id: Id,
    name: Name,
    cron: z.string().nullable(),
    every: DurationText.nullable(),
    timezone: z.string(),
    job: JobTemplate.extend({ payload: Json }),
    catchUp: z.enum(catchUps),
    catchUpWindow: DurationText,
    overlap: z.enum(overlaps),
    paused: Paused.nullable(),
    nextFireAt: MaybeInstant,
    lastFire: ScheduleFire.omit({ recordedAt: true }).nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: 'Schedule' });

/** A schedule. */
export type Schedule = z.infer<typeof Schedule>;

/** `GET …/schedules` and `…/fires` */
export const SchedulesQuery = z.strictObject(pageQuery);
