import { z } from 'zod';
import { Instant, InstantInput, Name, durationInput } from './values.ts';
import { QueueCounts } from './queues.ts';

/** What may need a person. */
export const attentionKinds = [
  'dead_letters',
  'failed_jobs',
  'queue_paused',
  'no_worker_for_queue',
  'no_worker_for_job',
  'missed_fires',
  'worker_lost',
  'database_not_durable',
] as const;

/**
 * One thing that needs a person; `subject` is the queue, schedule or worker, where it is about one. Of `no_worker_for_job` it
 * is the type of a job that is first in line, with the version of its payload behind an @ where that is not 1.
 */
export const Attention = z.object({
  kind: z.enum(attentionKinds),
  subject: z.string().nullable(),
  count: z.int(),
});

/** Two percentiles, in milliseconds; null when nothing was measured. */
export const Percentiles = z.object({ p50: z.number().nullable(), p95: z.number().nullable() });

/** The figures of the last minutes. `errorRate` is failed attempts over all attempts, 0 to 1; null without attempts. */
export const Rates = z.object({
  windowMs: z.number(),
  completedPerMinute: z.number(),
  failedPerMinute: z.number(),
  deadLetteredPerMinute: z.number(),
  errorRate: z.number().nullable(),
  waitMs: Percentiles,
  runMs: Percentiles,
});

/** `GET …/stats/overview` */
export const Overview = z
  .object({
    asOf: Instant,
    counts: QueueCounts,
    rates: Rates,
    queues: z
      .array(
        z.object({
          name: Name,
          paused: z.boolean(),
          concurrency: z.int().nullable(),
          counts: QueueCounts,
          oldestWaitMs: z.number().nullable(),
          completedPerMinute: z.number(),
          failedPerMinute: z.number(),
        }),
      )
      .readonly(),
    workers: z.object({
      active: z.int(),
      quiet: z.int(),
      stopping: z.int(),
      lost: z.int(),
      slots: z.int(),
      busy: z.int(),
    }),
    attention: z.array(Attention).readonly(),
  })
  .meta({ id: 'Overview' });

/** The state of a project at a glance. */
export type Overview = z.infer<typeof Overview>;

/** `GET …/stats/timeseries`: the last hour by the minute unless said otherwise; at most 1500 points. */
export const TimeseriesQuery = z.strictObject({
  queue: Name.optional(),
  from: InstantInput.optional(),
  to: InstantInput.optional(),
  step: durationInput({ minMs: 60_000, maxMs: 86_400_000 }).optional(),
});

/** The figures of one step; `at` is its beginning. */
export const TimeseriesPoint = z.object({
  at: Instant,
  completed: z.int(),
  failed: z.int(),
  deadLettered: z.int(),
  cancelled: z.int(),
  errorRate: z.number().nullable(),
  waitMs: Percentiles,
  runMs: Percentiles,
});

/** `GET …/stats/timeseries`: a point for every step, also where nothing happened. */
export const Timeseries = z
  .object({
    from: Instant,
    to: Instant,
    stepMs: z.number(),
    points: z.array(TimeseriesPoint).readonly(),
  })
  .meta({ id: 'Timeseries' });

/** Figures over time. */
export type Timeseries = z.infer<typeof Timeseries>;
