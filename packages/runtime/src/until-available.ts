import { databaseUnavailable, messageOfDriver } from '@holdfast/domain';
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
        logger.warn({ reason: messageOfDriver(error), attempt, delayMs }, 'database not available');
      },
    });
  } catch (error) {
    throw isTransient(error) ? databaseUnavailable(error) : error;
  }
}
