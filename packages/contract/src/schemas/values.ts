import { formatDuration, maxDurationMs, nameForm, parseDurationMs } from '@holdfast/domain';
import { z } from 'zod';

/** Queues, job types, schedule names and project slugs: 1 to 128 of these characters, so that a name is safe anywhere. */
export const Name = z
  .string()
  .regex(nameForm, 'must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -')
  .refine((name) => name !== '.' && name !== '..', 'must not be "." or ".."')
  .meta({ id: 'Name', examples: ['default'] });

/** A UUID in its canonical lower-case form. */
export const Id = z
  .string()
  .regex(
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    'must be a UUID in lower case',
  )
  .meta({ id: 'Id', examples: ['019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90'] });

/** An instant as answered: RFC 3339 in UTC. */
export const Instant = z
  .string()
  .meta({ id: 'Instant', format: 'date-time', examples: ['2026-03-01T12:00:00.000Z'] });

const offsetDateTime = z.iso.datetime({
  offset: true,
  abort: true,
  error: 'must be an RFC 3339 date and time with an offset, such as 2026-03-01T12:00:00Z',
});

/**
 * An instant as sent: RFC 3339 with an offset, from the year 2000 on. How far in the future it may lie is checked
 * against the clock by the API.
 */
export const InstantInput = offsetDateTime
  .refine(
    (text) => Date.parse(text) >= Date.UTC(2000, 0, 1),
    'must not be before 2000-01-01T00:00:00Z',
  )
  .meta({ format: 'date-time' });

/** The bounds of a duration, in milliseconds. */
export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** A duration as sent (`"30s"`, `"5m"`, `"PT5M"`), read into whole milliseconds within the bounds. */
export function durationInput({ minMs, maxMs }: DurationBounds) {
  const range = `must be between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`;
  return z
    .string()
    .max(64)
    .transform((text, context) => {
      const ms = parseDurationMs(text);
      if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
      const message = ms === undefined ? 'must be a duration such as "30s", "5m" or "PT5M"' : range;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ description: `A duration: ${range}.`, examples: ['5m'] });
}

/** Any wait that may be asked for: nothing to ten years. */
export const DelayInput = durationInput({ minMs: 0, maxMs: maxDurationMs });

/** An end that was given as a time from now on, or as an instant. */
export type Deadline = { readonly ms: number } | { readonly at: string };

/** The end of something, as a duration from now on or as an instant; how far it may lie ahead is checked by the API. */
export const DeadlineInput = z
  .string()
  .max(64)
  .transform((text, context): Deadline => {
    const ms = parseDurationMs(text);
    if (ms !== undefined && ms >= 1) return { ms };
    if (InstantInput.safeParse(text).success) return { at: text };
    const message =
      'must be a duration such as "30s", "5m" or "PT5M", or an RFC 3339 date and time with an offset';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({
    description: 'A duration from now on, or an RFC 3339 date and time with an offset.',
    examples: ['10m', '2026-03-01T12:00:00Z'],
  });

/** The end of a job's attempts as answered: an instant, or a duration from its creation on. */
export const RetryEnd = z.string().meta({ examples: ['1d', '2026-03-01T12:00:00.000Z'] });

/** A duration as answered, in the short form: `"5m"`. */
export const DurationText = z.string().meta({ id: 'Duration', examples: ['5m'] });

/** Any JSON value. */
export const Json = z.unknown().meta({ description: 'Any JSON value.' });

/** An object of JSON values. */
export const JsonObject = z.record(z.string(), z.unknown());

/** Text for people, such as a reason: no control characters. */
export const Reason = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters');
