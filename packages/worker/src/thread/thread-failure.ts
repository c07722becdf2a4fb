import { NonRetryableError, RetryableError } from '@holdfast/domain';
import { readProperty, toAttemptError } from '../attempt-error.ts';
import { failureOf } from '../attempt-failure.ts';
import { safeJson } from '../safe-json.ts';
import type { ThreadAnswer, ThreadFailure } from './thread-messages.ts';

/** Whatever was thrown, in a form that can be copied to another thread. */
export function toThreadFailure(thrown: unknown, type: string): ThreadFailure {
  const { retryable, retryAfterMs } = failureOf(thrown, type);
  const { code, message, stack } = toAttemptError(thrown, type);
  const name = readProperty(thrown, 'name');
  return {
    name: typeof name === 'string' ? name : code,
    ...{ message, stack, code, retryable, retryAfterMs },
  };
}

/** An error that says the same as the one in the other thread. */
export function toError(failure: ThreadFailure): Error {
  const { message, code, retryable, retryAfterMs, name, stack } = failure;
  const error = retryable
    ? new RetryableError(message, { code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
    : new NonRetryableError(message, { code });
  error.name = name;
  // Whatever was thrown had none; the place where it is put together again says nothing.
  error.stack = stack ?? '';
  return error;
}

/** What a call gives, as the other thread can take it. */
export async function answerOf(type: string, call: () => unknown): Promise<ThreadAnswer> {
  try {
    return { ok: true, json: safeJson(await call()).json };
  } catch (error) {
    return { ok: false, failure: toThreadFailure(error, type) };
  }
}
