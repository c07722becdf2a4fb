import { databaseUnavailable, messageOfDriver } from '@holdfast/domain';
import { systemClock } from './clock.ts';
import { retryTransient } from './retry-transient.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** How long whatever starts waits for its database. */
const patienceMs = 60_000;

/** How long and how a starting process waits for its database. */
export interface AvailabilityOptions {
  readonly isTransient: (error: unknown) => boolean;
  readonly logger: Pick<Logger, 'warn'>;
  /** Tries in all; default: as many as fit into a minute. */
  readonly maxAttempts?: number;
  /** Ends the waiting, though not a try that is under way. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Calls `ask` at the start of a process until the database answers, since both are often started together. The last try
 * begins a minute after the first one at the latest, and the wait before it is one of a few seconds.
 *
 * @throws HoldfastError `database_unavailable` when it does not in time, or the signal aborted; any lasting error at once
 */
export async function untilAvailable<T>(
  ask: () => Promise<T>,
  options: AvailabilityOptions,
): Promise<T> {
  const { isTransient, logger, signal, maxAttempts = Infinity, clock = systemClock } = options;
  const endsAtMs = clock.monotonicMs() + patienceMs;
  try {
    return await retryTransient(ask, {
      isTransient: (error) => isTransient(error) && clock.monotonicMs() < endsAtMs,
      maxAttempts,
      clock,
      ...(signal === undefined ? {} : { signal }),
      onRetry: ({ error, attempt, delayMs }) => {
        logger.warn({ reason: messageOfDriver(error), attempt, delayMs }, 'database not available');
      },
    });
  } catch (error) {
    throw isTransient(error) ? databaseUnavailable(error) : error;
  }
}
