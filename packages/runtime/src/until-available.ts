import { HoldfastError } from '@holdfast/domain';
import { retryTransient } from './retry-transient.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** How long and how a starting process waits for its database. */
export interface AvailabilityOptions {
  readonly isTransient: (error: unknown) => boolean;
  readonly logger: Logger;
  /** Tries in all; the default is about a minute of them. */
  readonly maxAttempts?: number;
  readonly clock?: Clock;
}

/**
 * Calls `ask` at the start of a process until the database answers, since both are often started together.
 *
 * @throws HoldfastError `database_unavailable` when it does not in time; any lasting error at once
 */
export async function untilAvailable<T>(
  ask: () => Promise<T>,
  options: AvailabilityOptions,
): Promise<T> {
  const { isTransient, logger, maxAttempts = 25, clock } = options;
  try {
    return await retryTransient(ask, {
      isTransient,
      maxAttempts,
      ...(clock === undefined ? {} : { clock }),
      onRetry: ({ error, attempt, delayMs }) => {
        logger.warn({ reason: messageOf(error), attempt, delayMs }, 'database not available');
      },
    });
  } catch (error) {
    if (!isTransient(error)) throw error;
    throw new HoldfastError(`The database cannot be reached: ${messageOf(error)}`, {
      code: 'database_unavailable',
      cause: error,
    });
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection to a name with several addresses is an AggregateError without a message.
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}
