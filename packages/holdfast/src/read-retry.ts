import { defaultBackoff, defaultRetryPolicy, maxBackoffMs, retryModes } from '@holdfast/domain';
import type { BackoffPolicy, RetryMode, RetryPolicy } from '@holdfast/domain';
import { keysOf } from './check-options.ts';
import type { OptionCheck } from './check-options.ts';
import type { Backoff, Duration, RetryOptions } from './job-options.ts';

/** The parts of a retry policy that were named. */
export type PartialRetry = Partial<RetryPolicy>;

/** Reads the options of retries; a function as backoff is the worker's business and not stored. */
export function readRetry(
  check: OptionCheck,
  options: Omit<RetryOptions, 'maxAttempts'> & { readonly backoff?: unknown },
): PartialRetry {
  const backoff = readBackoff(check, options.backoff);
  const mode = readMode(check, options.retry);
  const maxExceptions = check.whole('maxExceptions', options.maxExceptions, { min: 1, max: 100 });
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(backoff === undefined ? {} : { backoff }),
    ...readRetryUntil(check, options.retryUntil),
    ...(maxExceptions === undefined ? {} : { maxExceptions }),
  };
}

/** A whole policy: what was named, then that of the queue; `undefined` when nothing was named. */
export function completeRetry(
  named: PartialRetry,
  ofQueue: RetryPolicy | null | undefined,
): RetryPolicy | undefined {
  if (Object.keys(named).length === 0) return undefined;
  return { ...defaultRetryPolicy, ...ofQueue, ...named };
}

function readMode(check: OptionCheck, retry: unknown): RetryMode | undefined {
  if (typeof retry !== 'object') {
    // Callers in plain JavaScript may hand in anything.
    return check.oneOf('retry', retry as RetryMode | undefined, retryModes);
  }
  check.refuse(
    'retry must be "automatic" or "manual"; until when the job is tried is said by retryUntil, a limit of exceptions by maxExceptions',
  );
  return undefined;
}

/** Either form takes the place of both, so that a job's end replaces that of its definition or queue. */
function readRetryUntil(check: OptionCheck, value: RetryOptions['retryUntil']): PartialRetry {
  const end = check.deadline('retryUntil', value);
  return end === undefined ? {} : { retryForMs: end.ms, retryUntil: end.at?.toISOString() };
}

function readBackoff(check: OptionCheck, backoff: unknown): BackoffPolicy | undefined {
  if (backoff === undefined || typeof backoff === 'function') return undefined;
  const wait = (name: string, value: Duration): number =>
    check.duration(name, value, { maxMs: maxBackoffMs }) ?? 0;
  if (typeof backoff === 'number' || typeof backoff === 'string') {
    return { kind: 'fixed', delayMs: wait('backoff', backoff) };
  }
  if (Array.isArray(backoff)) return readDelays(check, backoff, wait);
  if (keysOf(backoff) === undefined) {
    check.refuse('backoff must be a duration, a list of them, or an object with a kind');
    return undefined;
  }
  return readNamedBackoff(check, backoff as Exclude<Backoff, Duration | readonly Duration[]>, wait);
}

type ReadWait = (name: string, value: Duration) => number;

function readDelays(
  check: OptionCheck,
  delays: readonly Duration[],
  wait: ReadWait,
): BackoffPolicy {
  // Callers in plain JavaScript may leave them out.
  const areListed: boolean = Array.isArray(delays);
  if (!areListed || delays.length < 1 || delays.length > 100) {
    check.refuse('backoff must have 1 to 100 delays');
    return { kind: 'list', delaysMs: [] };
  }
  return { kind: 'list', delaysMs: delays.map((delay) => wait('backoff', delay)) };
}

function readNamedBackoff(
  check: OptionCheck,
  backoff: Exclude<Backoff, Duration | readonly Duration[]>,
  wait: ReadWait,
): BackoffPolicy | undefined {
  switch (backoff.kind) {
    case 'exponential': {
      check.names(backoff, ['kind', 'base', 'factor', 'max', 'jitter']);
      const { base, factor = defaultBackoff.factor, max, jitter = defaultBackoff.jitter } = backoff;
      if (typeof factor !== 'number' || !(factor >= 1 && factor <= 10))
        check.refuse('backoff.factor must be from 1 to 10');
      check.oneOf('backoff.jitter', jitter, ['full', 'none']);
      return {
        kind: 'exponential',
        baseMs: base === undefined ? defaultBackoff.baseMs : wait('backoff.base', base),
        factor,
        maxMs: max === undefined ? defaultBackoff.maxMs : wait('backoff.max', max),
        jitter,
      };
    }
    case 'list':
      check.names(backoff, ['kind', 'delays']);
      return readDelays(check, backoff.delays, wait);
    case 'fixed':
      check.names(backoff, ['kind', 'delay']);
      return { kind: 'fixed', delayMs: wait('backoff.delay', backoff.delay) };
    default:
      check.refuse('backoff.kind must be "exponential", "list" or "fixed"');
      return undefined;
  }
}
