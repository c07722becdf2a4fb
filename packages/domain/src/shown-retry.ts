import type { BackoffPolicy } from './backoff.ts';
import type { RetryMode, RetryPolicy } from './job-outcome.ts';

/** How jobs to come are tried again, as it is shown. */
export interface ShownRetry {
  /** `manual`: after a failure they rest in `failed` until a person decides. */
  readonly retry: RetryMode;
  readonly backoff: BackoffPolicy;
  /** No retry begins after it: an instant, or milliseconds from a job's creation on. */
  readonly retryUntil: Date | number | undefined;
  /** How often their handler may throw; timeouts do not count. */
  readonly maxExceptions: number | undefined;
}

/** A policy for jobs to come. */
export function shownRetry({ mode, backoff, maxExceptions, ...ends }: RetryPolicy): ShownRetry {
  const retryUntil = ends.retryUntil === undefined ? ends.retryForMs : new Date(ends.retryUntil);
  return { retry: mode, backoff, retryUntil, maxExceptions };
}

/** The instant after which no retry of a job begins; the earlier of both ends. `undefined`: there is none. */
export function retryEndOf(retry: RetryPolicy, createdAt: Date): Date | undefined {
  const endMs = retryEndMs(retry, createdAt.getTime());
  return endMs === Infinity ? undefined : new Date(endMs);
}

/** The same in milliseconds since 1970; Infinity when there is none. */
export function retryEndMs(retry: RetryPolicy, createdAtMs: number): number {
  const untilMs = retry.retryUntil === undefined ? Infinity : Date.parse(retry.retryUntil);
  return Math.min(untilMs, createdAtMs + (retry.retryForMs ?? Infinity));
}
