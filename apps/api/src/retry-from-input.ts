import type { Deadline } from '@holdfast/contract';
import type { BackoffPolicy, RetryMode, RetryPolicy } from '@holdfast/domain';

/** What a request says of retries; null takes away what was said before. */
export interface RetryInput {
  readonly retry?: RetryMode | undefined;
  readonly backoff?: BackoffPolicy | undefined;
  readonly retryUntil?: Deadline | null | undefined;
  readonly maxExceptions?: number | null | undefined;
}

/** The parts of a retry policy that a request names; `undefined` when it names none. */
export function retryFromInput(input: RetryInput): Partial<RetryPolicy> | undefined {
  const { retry, backoff, retryUntil, maxExceptions } = input;
  const named: Partial<RetryPolicy> = {
    ...(retry === undefined ? {} : { mode: retry }),
    ...(backoff === undefined ? {} : { backoff }),
    ...(retryUntil === undefined ? {} : endOf(retryUntil)),
    ...(maxExceptions === undefined ? {} : { maxExceptions: maxExceptions ?? undefined }),
  };
  return Object.keys(named).length === 0 ? undefined : named;
}

/** Either form takes the place of both, so that a job's end replaces that of its queue. */
function endOf(end: Deadline | null): Partial<RetryPolicy> {
  if (end === null) return { retryForMs: undefined, retryUntil: undefined };
  return 'ms' in end
    ? { retryForMs: end.ms, retryUntil: undefined }
    : { retryForMs: undefined, retryUntil: new Date(end.at).toISOString() };
}
