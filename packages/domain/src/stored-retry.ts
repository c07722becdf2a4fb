import { defaultBackoff } from './backoff.ts';
import type { BackoffPolicy } from './backoff.ts';
import { isRecord } from './is-record.ts';
import { defaultRetryPolicy } from './job-outcome.ts';
import type { RetryPolicy } from './job-outcome.ts';

/**
 * The policy that a stored document stands for. Somebody may have written it in SQL, so what it lacks comes from the
 * default, and what is no number becomes NaN, for which a wait is the longest one.
 */
export function readStoredRetry(stored: unknown): RetryPolicy {
  if (!isRecord(stored)) return defaultRetryPolicy;
  const { mode, backoff, retryForMs, retryUntil, maxExceptions } = stored;
  return {
    mode: mode === 'manual' ? 'manual' : 'automatic',
    backoff: readStoredBackoff(backoff),
    ...(typeof retryForMs === 'number' ? { retryForMs } : {}),
    ...(typeof retryUntil === 'string' ? { retryUntil } : {}),
    ...(typeof maxExceptions === 'number' ? { maxExceptions } : {}),
  };
}

function readStoredBackoff(stored: unknown): BackoffPolicy {
  if (!isRecord(stored)) return defaultBackoff;
  const { kind, delayMs, delaysMs, baseMs, factor, maxMs, jitter } = stored;
  switch (kind) {
    case 'exponential':
      return {
        kind,
        baseMs: numberOf(baseMs ?? defaultBackoff.baseMs),
        factor: numberOf(factor ?? defaultBackoff.factor),
        maxMs: numberOf(maxMs ?? defaultBackoff.maxMs),
        jitter: jitter === 'none' ? 'none' : 'full',
      };
    case 'list':
      return isFilledList(delaysMs) ? { kind, delaysMs: delaysMs.map(numberOf) } : defaultBackoff;
    case 'fixed':
      return isMissing(delayMs) ? defaultBackoff : { kind, delayMs: numberOf(delayMs) };
    default:
      return defaultBackoff;
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}
