import { systemClock } from '@holdfast/runtime';
import type { UseOptions } from './connection.ts';
import type { HoldfastLogger } from './logger.ts';
import { OutageLog } from './outage-log.ts';

/** What is polled for, and for how long. */
export interface Poll<Found> {
  /** Looks once; `undefined` when it is not there yet. A look that outlives the waiting is let go, its signal aborted. */
  readonly look: (options: UseOptions) => Promise<Found | undefined>;
  /** Told of outages, each of which may be long. */
  readonly logger: HoldfastLogger;
  /** Without end when it is `Infinity`. */
  readonly timeoutMs: number;
  /** The error of a wait that took too long; it is told what keeps the last look from an answer, if something does. */
  readonly timeoutError: (trouble: unknown) => Error;
  /** Ends the waiting: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Cuts a pause short. */
  readonly sleep?: ((durationMs: number, signal: AbortSignal) => Promise<void>) | undefined;
}

const firstPauseMs = 20;
const longestPauseMs = 1_000;
const growth = 1.3;

/** The end of the waiting is the only end of the tries; these come about once a second at last, as looks do. */
const lookTries = { maxAttempts: Infinity, capMs: 2 * longestPauseMs } as const;

/**
 * Looks again and again until something is there. The end of the time and the signal hold whatever a look does, also
 * when it does not come back. A look whose error may go away by itself goes on until then; any other error ends the
 * waiting.
 */
export async function pollUntil<Found>(poll: Poll<Found>): Promise<Found> {
  const { look, timeoutMs, timeoutError, signal } = poll;
  const sleep = poll.sleep ?? sleepOn;
  let trouble: unknown;
  const outages = new OutageLog(poll.logger);
  const onTrouble = (error: unknown): void => {
    trouble = error;
    outages.failed(error);
  };
  signal?.throwIfAborted();
  const over = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => {
      // What the caller aborted with is given back to it, whatever it is.
      reject(over.signal.reason as Error);
    });
  });
  // Nobody listens any more once something was found.
  stopped.catch(() => undefined);
  const onAbort = (): void => {
    over.abort(signal?.reason);
  };
  signal?.addEventListener('abort', onAbort);
  const settled = new AbortController();
  if (timeoutMs !== Infinity) {
    void systemClock.sleep(timeoutMs, settled.signal).then(() => {
      if (!settled.signal.aborted) over.abort(timeoutError(trouble));
    });
  }
  try {
    for (let looks = 1; ; looks += 1) {
      const looking = look({ ...lookTries, signal: over.signal, onTrouble });
      // Its failure after the end of the waiting concerns nobody.
      looking.catch(() => undefined);
      const found = await Promise.race([looking, stopped]);
      outages.answered();
      if (found !== undefined) return found;
      trouble = undefined;
      await Promise.race([sleep(pauseAfterMs(looks), over.signal), stopped]);
    }
  } finally {
    settled.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}

const sleepOn = (durationMs: number, signal: AbortSignal): Promise<void> =>
  systemClock.sleep(durationMs, signal);

/**
 * How long to pause after so many looks: from 20 ms, each 1.3 times the one before, to 1 s, so that a wait outlasts what
 * it waits for by a third at most. A random quarter more or less keeps many waits apart.
 *
 * @param random a number in [0, 1)
 */
export function pauseAfterMs(looks: number, random: () => number = Math.random): number {
  const pauseMs = Math.min(firstPauseMs * growth ** (looks - 1), longestPauseMs);
  return pauseMs * (0.75 + random() / 2);
}
