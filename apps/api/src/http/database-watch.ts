import { isTransientError, readClock } from '@holdfast/database';
import type { Database } from '@holdfast/database';
import type { Clock } from '@holdfast/runtime';
import { HttpProblem } from './problem.ts';

const patienceMs = 900;
const probeLimitMs = 900;
const retryAfterSeconds = '2';

/** Keeps requests from hanging on a database that is gone. */
export interface DatabaseWatch {
  /**
   * Waits for database work; when it takes long, asks the database on another connection whether it lives.
   *
   * @throws HttpProblem `database_unavailable` in less than two seconds when it does not. What was written then is
   * unknown; an idempotency key makes it safe to ask again.
   */
  guard<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when the database answers, and rejects within a second when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Watches through a connection of its own, so that a busy pool is not taken for a dead database.
 *
 * @param database a database with a pool of one
 */
export function createDatabaseWatch(database: Database, clock: Clock): DatabaseWatch {
  let asking: Promise<void> | undefined;
  const ping = (): Promise<void> => {
    asking ??= within(readClock(database), clock).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  return {
    ping,
    async guard(work) {
      const settled = new AbortController();
      // Whoever gave up on it must not see its failure as unhandled.
      work.catch(() => undefined);
      try {
        return await Promise.race([work, failWhenGone({ ping, clock, settled: settled.signal })]);
      } catch (error) {
        throw isTransientError(error) ? databaseUnavailable(error) : error;
      } finally {
        settled.abort();
      }
    },
    close: () => database.close(),
  };
}

/** The database cannot be reached now. */
export function databaseUnavailable(cause: unknown): HttpProblem {
  return new HttpProblem('database_unavailable', {
    headers: { 'retry-after': retryAfterSeconds },
    cause,
  });
}

interface Waiting {
  readonly ping: () => Promise<void>;
  readonly clock: Clock;
  readonly settled: AbortSignal;
}

// Never resolves; rejects when the database stops answering while the work goes on.
async function failWhenGone({ ping, clock, settled }: Waiting): Promise<never> {
  for (;;) {
    await clock.sleep(patienceMs, settled);
    if (isAborted(settled)) return new Promise<never>(() => undefined);
    await ping().catch((error: unknown) => {
      throw databaseUnavailable(error);
    });
  }
}

// A function, because the compiler does not know that a signal changes while one waits.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function within(work: Promise<unknown>, clock: Clock): Promise<void> {
  const done = new AbortController();
  work.catch(() => undefined);
  try {
    await Promise.race([
      work,
      clock.sleep(probeLimitMs, done.signal).then(() => {
        if (!done.signal.aborted) throw new Error('timeout exceeded');
      }),
    ]);
  } finally {
    done.abort();
  }
}
