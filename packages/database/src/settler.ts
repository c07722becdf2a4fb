import type { Database } from './database.ts';
import type { Notifier } from './notifier.ts';
import { settleEndings } from './settling.ts';

/** Settles endings soon after they were written; the schedulers' own settler is there for those that were missed. */
export interface Settler {
  /** Asks for a round; calls that come while one is under way share the next one. */
  kick(): void;
  /** Resolves when no round is under way. */
  idle(): Promise<void>;
}

/** Makes a settler that works in the database's pool, one round at a time. */
export function createSettler(
  database: Database,
  options: {
    readonly notifier: Notifier;
    /** A round failed; what it would have done is left to the schedulers. */
    readonly onError: (error: unknown) => void;
  },
): Settler {
  let isKicked = false;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    try {
      while (isKicked) {
        isKicked = false;
        const { queueIds, scheduled, more } = await settleEndings(database);
        if (queueIds.length > 0) options.notifier.wakeQueues(queueIds);
        if (scheduled) options.notifier.wakeSchedulers();
        isKicked ||= more;
      }
    } catch (error) {
      isKicked = false;
      options.onError(error);
    }
    running = undefined;
  };
  return {
    kick() {
      isKicked = true;
      running ??= run();
    },
    idle: () => running ?? Promise.resolve(),
  };
}
