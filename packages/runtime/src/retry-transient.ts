import { systemClock } from './clock.ts';
import { fullJitterMs } from './full-jitter.ts';
import type { Clock } from './clock.ts';

/** How `retryTransient` goes on after an error. */
export interface RetryOptions {
  /** Says whether an error may go away by itself; any other error is thrown at once. */
  readonly isTransient: (error: unknown) => boolean;
  /** Tries in all, the first included; default 10, `Infinity` for as long as it takes. */
  readonly maxAttempts?: number;
  /** Ceiling of the first wait; default 50 ms. */
  readonly baseMs?: number;
  /** Longest wait; default 5 s. */
  readonly capMs?: number;
  /** Ends the waiting: the last error is thrown when it aborts. */
  readonly signal?: AbortSignal;
  /** Told before each wait, to log it. */
  readonly onRetry?: (retry: {
    readonly error: unknown;
    readonly attempt: number;
    readonly delayMs: number;
  }) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/**
 * Calls `operation` until it succeeds, waiting with full jitter between tries.
 *
 * @throws the operation's own error, when it is not transient, the tries are used up, or the signal aborted
 */
export async function retryTransient<T>(
  operation: () => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { maxAttempts = 10, baseMs = 50, capMs = 5_000, signal } = options;
  const { clock = systemClock, random = Math.random } = options;
  const isLast = (attempt: number): boolean => attempt >= maxAttempts || signal?.aborted === true;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation();
    } catch (error) {
      if (isLast(attempt) || !options.isTransient(error)) throw error;
      const delayMs = fullJitterMs(attempt, { baseMs, capMs }, random);
      options.onRetry?.({ error, attempt, delayMs });
      await clock.sleep(delayMs, signal);
    }
  }
}
