import { defaultBackoff, maxBackoffMs } from '@holdfast/domain';
import type { BackoffPolicy } from '@holdfast/domain';
import { z } from 'zod';
import { DurationText, durationInput } from './values.ts';

const Wait = durationInput({ minMs: 0, maxMs: maxBackoffMs });

const Exponential = z
  .strictObject({
    kind: z.literal('exponential'),
    base: Wait.optional(),
    factor: z.number().min(1).max(10).default(defaultBackoff.factor),
    max: Wait.optional(),
    jitter: z.enum(['full', 'none']).default(defaultBackoff.jitter),
  })
  .transform(({ kind, base, factor, max, jitter }): BackoffPolicy => ({
    kind,
    baseMs: base ?? defaultBackoff.baseMs,
    factor,
    maxMs: max ?? defaultBackoff.maxMs,
    jitter,
  }));

const List = z
  .strictObject({ kind: z.literal('list'), delays: z.array(Wait).min(1).max(100).readonly() })
  .transform(({ kind, delays }): BackoffPolicy => ({ kind, delaysMs: delays }));

const Fixed = z
  .strictObject({ kind: z.literal('fixed'), delay: Wait })
  .transform(({ kind, delay }): BackoffPolicy => ({ kind, delayMs: delay }));

/** How long a job waits between attempts, as sent; read into a {@link BackoffPolicy}. */
export const BackoffInput = z.discriminatedUnion('kind', [Exponential, List, Fixed]);

/** How long a job waits between attempts, as answered. */
export const Backoff = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('exponential'),
      base: DurationText,
      factor: z.number(),
      max: DurationText,
      jitter: z.enum(['full', 'none']),
    }),
    z.object({ kind: z.literal('list'), delays: z.array(DurationText).readonly() }),
    z.object({ kind: z.literal('fixed'), delay: DurationText }),
  ])
  .meta({ id: 'Backoff' });

/** How long a job waits between attempts, as answered. */
export type Backoff = z.infer<typeof Backoff>;
