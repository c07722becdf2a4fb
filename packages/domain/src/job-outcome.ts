import { assertNever } from './assert-never.ts';
import { backoffDelay, clampDelay, defaultBackoff } from './backoff.ts';
import type { BackoffPolicy } from './backoff.ts';
import { maxDurationMs } from './duration.ts';
import type { ExecutionStatus } from './job-statuses.ts';
import { retryEndMs } from './shown-retry.ts';

/** An error as it is stored with an execution and with the job. */
export interface AttemptError {
  readonly code: string;
  readonly message: string;
  readonly stack?: string;
  /** Groups errors that look alike; see the dead letters' groups. */
  readonly fingerprint: string;
}

/** What happened to one attempt; made in one place, by the worker's executor. */
export type AttemptOutcome =
  | { readonly kind: 'completed'; readonly resultJson: string | undefined }
  | {
      readonly kind: 'failed';
      readonly error: AttemptError;
      readonly retryable: boolean;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly kind: 'timed_out'; readonly error: AttemptError }
  | { readonly kind: 'released'; readonly delayMs: number; readonly reason: string | undefined }
  | { readonly kind: 'returned'; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly error: AttemptError };

/** Who moves a failed job on: the backoff, or a person. */
export const retryModes = ['automatic', 'manual'] as const;

/** Who moves a failed job on: the backoff, or a person. */
export type RetryMode = (typeof retryModes)[number];

/** How a job may be tried again. `manual`: after a failure it rests in `failed` until a person decides. */
export interface RetryPolicy {
  readonly mode: RetryMode;
  readonly backoff: BackoffPolicy;
  /** No retry begins later than this many milliseconds after the job's creation. */
  readonly retryForMs?: number | undefined;
  /** No retry begins after this instant, in RFC 3339; the earlier of both counts. */
  readonly retryUntil?: string | undefined;
  /** Attempts whose handler may throw, apart from `maxAttempts`, which timeouts use up too. */
  readonly maxExceptions?: number | undefined;
}

/** The policy of a job that names none. */
export const defaultRetryPolicy: RetryPolicy = { mode: 'automatic', backoff: defaultBackoff };

/** What a job's row says that matters for the decision. */
export interface AttemptFacts {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly releaseCount: number;
  /** Attempts before this one whose handler threw. */
  readonly exceptionCount: number;
  /** From the job's creation to the end of this attempt. */
  readonly ageMs: number;
  readonly createdAtMs: number;
  readonly retry: RetryPolicy;
  /** What a function of the job's type says of the wait before the next attempt; goes before the policy's backoff. */
  readonly ownDelayMs?: number | undefined;
}

/** A job can ask to be released this often; more is a failure. */
export const maxReleaseCount = 100;

/** The transition that an outcome leads to, with what it needs. */
export interface Decision {
  readonly transition:
    | 'complete_jobs'
    | 'retry_jobs'
    | 'fail_jobs'
    | 'dead_letter_jobs'
    | 'release_jobs'
    | 'return_jobs'
    | 'abandon_jobs';
  readonly executionStatus: ExecutionStatus;
  /** Milliseconds until the next attempt, for `retry_jobs` and `release_jobs`. */
  readonly delayMs?: number;
  /** Why, as a code or a handler's own words; stored on the execution. */
  readonly reason?: string;
  readonly error?: AttemptError;
  readonly resultJson?: string | undefined;
}

/**
 * Decides what becomes of a job after an attempt. Pure: chance comes in as `random`, uniform in [0, 1).
 */
export function decideOutcome(
  facts: AttemptFacts,
  outcome: AttemptOutcome,
  random: () => number,
): Decision {
  switch (outcome.kind) {
    case 'completed':
      return {
        transition: 'complete_jobs',
        executionStatus: 'completed',
        resultJson: outcome.resultJson,
      };
    case 'failed':
    case 'timed_out':
      return decideFailure(facts, outcome, random);
    case 'released':
      return decideRelease(facts, outcome, random);
    case 'returned':
      return {
        transition: 'return_jobs',
        executionStatus: 'returned',
        reason: outcome.reason,
      };
    case 'cancelled':
      return {
        transition: 'abandon_jobs',
        executionStatus: 'cancelled',
        reason: 'cancelled',
        error: outcome.error,
      };
    default:
      return assertNever(outcome);
  }
}

function decideFailure(
  facts: AttemptFacts,
  outcome: Extract<AttemptOutcome, { kind: 'failed' | 'timed_out' }>,
  random: () => number,
): Decision {
  const base = { executionStatus: outcome.kind, error: outcome.error } as const;
  if (outcome.kind === 'failed' && !outcome.retryable) {
    return { ...base, transition: 'dead_letter_jobs', reason: 'non_retryable' };
  }
  if (facts.retry.mode === 'manual') {
    return { ...base, transition: 'fail_jobs', reason: 'manual_retry' };
  }
  if (facts.attempt >= facts.maxAttempts) {
    return { ...base, transition: 'dead_letter_jobs', reason: 'attempts_exhausted' };
  }
  if (
    outcome.kind === 'failed' &&
    facts.exceptionCount + 1 >= (facts.retry.maxExceptions ?? Infinity)
  ) {
    return { ...base, transition: 'dead_letter_jobs', reason: 'exceptions_exhausted' };
  }
  const { delayMs, reason } = delayAfter(facts, outcome, random);
  if (facts.ageMs + delayMs > retryWindowMs(facts)) {
    return { ...base, transition: 'dead_letter_jobs', reason: 'retry_deadline' };
  }
  return { ...base, transition: 'retry_jobs', delayMs, reason };
}

/** The wait before the next attempt, and who chose it: the error, a function of the type, or the policy. */
function delayAfter(
  facts: AttemptFacts,
  outcome: Extract<AttemptOutcome, { kind: 'failed' | 'timed_out' }>,
  random: () => number,
): { readonly delayMs: number; readonly reason: string } {
  const { retry, attempt, ownDelayMs } = facts;
  const retryAfterMs = outcome.kind === 'failed' ? outcome.retryAfterMs : undefined;
  const asked = retryAfterMs ?? ownDelayMs;
  const { delayMs, clamped } =
    asked === undefined ? backoffDelay(retry.backoff, attempt, random) : clampDelay(asked);
  let source: string = retry.backoff.kind;
  if (ownDelayMs !== undefined) source = 'function';
  if (retryAfterMs !== undefined) source = 'retry_after';
  return { delayMs, reason: clamped ? `${source}_clamped` : source };
}

/** How old the job may be when an attempt begins, in milliseconds. */
function retryWindowMs({ retry, createdAtMs }: AttemptFacts): number {
  return retryEndMs(retry, createdAtMs) - createdAtMs;
}

function decideRelease(
  facts: AttemptFacts,
  outcome: Extract<AttemptOutcome, { kind: 'released' }>,
  random: () => number,
): Decision {
  if (facts.releaseCount >= maxReleaseCount) {
    const error: AttemptError = {
      code: 'release_limit_exceeded',
      message: `Released ${String(maxReleaseCount)} times already`,
      fingerprint: 'release_limit_exceeded',
    };
    return decideFailure(facts, { kind: 'failed', error, retryable: true }, random);
  }
  return {
    transition: 'release_jobs',
    executionStatus: 'released',
    delayMs: releaseDelayMs(outcome.delayMs),
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
  };
}

/** A release is no retry: it may be for longer than any wait between attempts. What is no delay counts as a day. */
function releaseDelayMs(ms: number): number {
  const { delayMs, clamped } = clampDelay(ms);
  return clamped ? delayMs : Math.min(Math.round(ms), maxDurationMs);
}
