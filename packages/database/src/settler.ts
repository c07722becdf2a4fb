import { setTimeout } from 'node:timers/promises';
import type { Database } from './database.ts';
import type { RenamedCallback } from './make-callbacks.ts';
import { wakeForJobs } from './notifier.ts';
import type { Notifier } from './notifier.ts';
import { settleEndings } from './settling.ts';
import type { Settled } from './settling.ts';

/** Settles endings soon after they were written; the schedulers' own settler is there for those that were missed. */
export interface Settler {
  /** Asks for a round; calls that come while one is under way share the next one. */
  kick(): void;
  /** Resolves when no round is under way. */
  idle(): Promise<void>;
}

/** What somebody else holds is looked at again after this time, and after twice, three times as long. */
const blockedMs = 10;
/** Then it is left to the schedulers. */
const maxBlockedTimes = 8;
/** Where many jobs end, more of them gather for a while and share the next round. */
const manyEndings = 100;
const gatherMs = 20;

/** Makes a settler that works in the database's pool, one round at a time. */
export function createSettler(
  database: Database,
  options: {
    readonly notifier: Notifier;
    /** A round failed, or an ending in it; what it would have done is left to the schedulers. */
    readonly onError: (error: unknown) => void;
    /** A callback was made under another id than it was given. */
    readonly onRenamed: (callback: RenamedCallback) => void;
  },
): Settler {
  let isKicked = false;
  let running: Promise<void> | undefined;
  const settleOnce = async (blockedTimes: number): Promise<Settled> => {
    const settled = await settleEndings(database);
    wakeForJobs(options.notifier, settled);
    for (const { error } of settled.failures) options.onError(error);
    settled.renamed.forEach(options.onRenamed);
    // Whoever holds it may have looked at the line too early to see all of it.
    if (settled.count === 0 && settled.isBlocked) await setTimeout(blockedMs * (blockedTimes + 1));
    else if (settled.count >= manyEndings) await setTimeout(gatherMs);
    return settled;
  };
  const run = async (): Promise<void> => {
    try {
      for (let blockedTimes = 0; isKicked && blockedTimes < maxBlockedTimes;) {
        isKicked = false;
        const { count, more, isBlocked } = await settleOnce(blockedTimes);
        isKicked ||= more || isBlocked;
        blockedTimes = count === 0 && isBlocked ? blockedTimes + 1 : 0;
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
