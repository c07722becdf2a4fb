import { defaultBackoff } from './backoff.ts';
import type { BackoffPolicy } from './backoff.ts';
import { maxDurationMs } from './duration.ts';
import { isNumberBetween, isWholeBetween } from './is-number-between.ts';
import { isRecord } from './is-record.ts';
import { defaultRetryPolicy } from './job-outcome.ts';
import type { RetryPolicy } from './job-outcome.ts';

/**
 * The policy that a stored document stands for. Somebody may have written it in SQL, so what it lacks, and what cannot
 * be, comes from the default.
 */
export function readStoredRetry(stored: unknown): RetryPolicy {
  if (!isRecord(stored)) return defaultRetryPolicy;
  const { mode, backoff, retryForMs, retryUntil, maxExceptions } = stored;
  return {
    mode: mode === 'manual' ? 'manual' : 'automatic',
    backoff: readStoredBackoff(backoff),
    ...(isNumberBetween(retryForMs, 0, maxDurationMs) ? { retryForMs } : {}),
    ...(typeof retryUntil === 'string' && isInstant(retryUntil) ? { retryUntil } : {}),
    ...(isWholeBetween(maxExceptions, 1, Number.MAX_SAFE_INTEGER) ? { maxExceptions } : {}),
  };
}

function readStoredBackoff(stored: unknown): BackoffPolicy {
  if (!isRecord(stored)) return defaultBackoff;
  const { kind, delayMs, delaysMs, baseMs, factor, maxMs, jitter } = stored;
  switch (kind) {
    case 'exponential':
      return {
        kind,
        baseMs: isWait(baseMs) ? baseMs : defaultBackoff.baseMs,
        factor: isWait(factor) ? factor : defaultBackoff.factor,
        maxMs: isWait(maxMs) ? maxMs : defaultBackoff.maxMs,
        jitter: jitter === 'none' ? 'none' : 'full',
      };
    case 'list':
      return areWaits(delaysMs) && delaysMs.length > 0 ? { kind, delaysMs } : defaultBackoff;
    case 'fixed':
      return isWait(delayMs) ? { kind, delayMs } : defaultBackoff;
    default:
      return defaultBackoff;
  }
}

/** However long: no wait is longer than a day. */
function isWait(value: unknown): value is number {
  return isNumberBetween(value, 0, Number.MAX_VALUE);
}

function areWaits(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isWait);
}

function isInstant(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
