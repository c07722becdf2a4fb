import { touchApiKey } from '@holdfast/database';
import type { Database } from '@holdfast/database';
import type { Clock, Logger } from '@holdfast/runtime';

const quietMs = 60_000;
// More keys than any installation has; forgetting them costs one write each.
const mostKeys = 10_000;

/** Notes when API keys were last used, for people to read. */
export interface KeyUses {
  /** No request waits for it or fails by it. */
  record(keyId: string): void;
}

/** Writes the use of each key at most once a minute. */
export function createKeyUses(deps: {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}): KeyUses {
  const { database, clock, logger } = deps;
  const writtenAtMs = new Map<string, number>();
  return {
    record(keyId) {
      const nowMs = clock.monotonicMs();
      if (nowMs - (writtenAtMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
      if (writtenAtMs.size >= mostKeys) writtenAtMs.clear();
      writtenAtMs.set(keyId, nowMs);
      touchApiKey(database, keyId).catch((error: unknown) => {
        logger.debug({ err: error }, 'use of an api key not recorded');
      });
    },
  };
}
