import { defaultBackoff } from '@holdfast/domain';

/** A destination cannot put a job off for longer than this: the longest wait of the default backoff. */
export const maxRetryAfterMs = defaultBackoff.maxMs;

/** The three date forms of RFC 9110, 5.6.7: IMF-fixdate, and the obsolete ones of RFC 850 and asctime. */
const httpDate =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * Reads a `Retry-After` header (RFC 9110, 10.2.3): seconds or an HTTP date.
 *
 * @param now milliseconds since the epoch, for dates.
 * @returns milliseconds, at most {@link maxRetryAfterMs}; `undefined` for junk and for what is not in the future, so that the
 * job's own backoff holds and nobody can ask to be hammered.
 */
export function parseRetryAfterMs(
  value: string | readonly string[] | undefined,
  now: number,
): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const waitMs = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : untilDateMs(text, now);
  if (!Number.isFinite(waitMs) || waitMs <= 0) return undefined;
  return Math.min(waitMs, maxRetryAfterMs);
}

function untilDateMs(text: string, now: number): number {
  if (!httpDate.test(text)) return Number.NaN;
  // asctime has no zone, and means GMT.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) - now;
}
