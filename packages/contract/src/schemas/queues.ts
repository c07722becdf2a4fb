import { retryModes } from '@holdfast/domain';
import { z } from 'zod';
import { Backoff, BackoffInput } from './backoff.ts';
import {
  DeadlineInput,
  DurationText,
  Instant,
  InstantInput,
  Name,
  Reason,
  RetryEnd,
} from './values.ts';
import { MaxAttempts, MaxExceptions, TimeoutInput } from './job-input.ts';
import { MaybeInstant, pageQuery } from './paging.ts';

/** The most jobs of one queue that may run at the same time across all workers. */
export const Concurrency = z.int().min(1).max(100_000);

const settings = {
  concurrency: Concurrency.nullish(),
  maxAttempts: MaxAttempts.optional(),
  timeout: TimeoutInput.optional(),
  backoff: BackoffInput.optional(),
  retry: z.enum(retryModes).optional(),
  retryUntil: DeadlineInput.nullish().meta({
    description:
      'No retry of a job begins after it: a duration from its creation on, or an instant. null: no end.',
  }),
  maxExceptions: MaxExceptions.nullish(),
};

/**
 * `POST …/queues`. A queue also comes into being with its first job. `concurrency: null` sets no limit. The other settings
 * are for jobs that name nothing themselves.
 */
export const QueueInput = z.strictObject({ name: Name, ...settings }).meta({ id: 'QueueInput' });

/** The settings of a new queue, as the API has read them. */
export type QueueInput = z.output<typeof QueueInput>;

/** `PATCH …/queues/{queue}`: what is not named stays as it is. */
export const QueuePatch = z
  .strictObject(settings)
  .refine((patch) => Object.keys(patch).length > 0, 'must change something');

/** A change of a queue's settings, as the API has read it. */
export type QueuePatch = z.output<typeof QueuePatch>;

/** `POST …/queues/{queue}/pause` and `/drain`. Without `until` it lasts until somebody resumes it. */
export const PauseInput = z.strictObject({ reason: Reason, until: InstantInput.nullish() });

/** `POST …/queues/{queue}/purge`: deletes what waits; the queue's name must be typed again. */
export const PurgeInput = z.strictObject({ confirm: z.string() });

/** How many jobs of a queue stand in each status that can still change. */
export const QueueCounts = z.object({
  queued: z.int(),
  scheduled: z.int(),
  claimed: z.int(),
  running: z.int(),
  failed: z.int(),
  deadLetter: z.int(),
});

/** Since when, by whom, why and until when something is paused. */
export const Paused = z
  .object({
    at: Instant,
    reason: z.string().nullable(),
    by: z.string().nullable(),
    until: MaybeInstant,
  })
  .meta({ id: 'Paused' });

/** A queue with its settings and counts. `oldestWaitMs` is how long the first job in line has been due. */
export const Queue = z
  .object({
    name: Name,
    paused: Paused.nullable(),
    concurrency: z.int().nullable(),
    maxAttempts: z.int(),
    timeout: DurationText,
    backoff: Backoff,
    retry: z.enum(retryModes),
    retryUntil: RetryEnd.nullable(),
    maxExceptions: z.int().nullable(),
    counts: QueueCounts,
    oldestWaitMs: z.number().nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: 'Queue' });

/** A queue. */
export type Queue = z.infer<typeof Queue>;

/** `GET …/queues` */
export const QueuesQuery = z.strictObject(pageQuery);

/** How far a drain is: the queue is paused, and `running` jobs have not ended yet. */
export const DrainProgress = z.object({ queue: Queue, remaining: z.int(), drained: z.boolean() });

/** How many jobs a purge deleted. */
export const PurgeResult = z.object({ purged: z.int() });
