import { NonRetryableError, RetryableError } from '@holdfast/domain';
import type { AttemptOutcome } from '@holdfast/domain';
import { readProperty, toAttemptError } from './attempt-error.ts';
import { isInstanceOf } from './is-instance-of.ts';

/** What a thrown error means for an attempt that nobody aborted. */
export function failureOf(
  thrown: unknown,
  type: string,
): Extract<AttemptOutcome, { kind: 'failed' }> {
  return {
    kind: 'failed',
    error: toAttemptError(thrown, type),
    retryable: !isError(thrown, NonRetryableError),
    retryAfterMs: isError(thrown, RetryableError)
      ? asNumber(readProperty(thrown, 'retryAfterMs'))
      : undefined,
  };
}

/** Also by name: a handlers module of its own folder may have classes of its own, which say the same. */
function isError(thrown: unknown, kind: typeof NonRetryableError | typeof RetryableError): boolean {
  return isInstanceOf(thrown, kind) || readProperty(thrown, 'name') === kind.name;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
