import { countUnpartitioned, ensurePartitions, prune } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import type { Loop } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

const pruneEveryMs = 10 * 60_000;

/** Makes partitions ahead, removes what retention no longer keeps, and raises an alarm when a partition is missing. */
export function createPruner(context: LoopContext): Loop {
  const { database, logger, metrics, retention } = context;
  const stray = metrics?.gauge({
    name: 'unpartitioned_rows',
    help: 'Rows of the last day that found no partition; anything but 0 needs attention',
  });
  return createLoop({
    ...context,
    name: 'pruner',
    maxIntervalMs: pruneEveryMs,
    run: async () => {
      // Counted before the missing partition is made, which takes the rows in.
      const rowCount = await countUnpartitioned(database);
      stray?.set(rowCount);
      if (rowCount > 0) logger.error({ rowCount }, 'partition missing');
      // What cannot be made must not keep what is old; one after the other, since both lock the tables.
      const [made] = await Promise.allSettled([ensurePartitions(database)]);
      const { partitions: dropped, retiredDeadLetters } = await prune(database, retention);
      if (made.status === 'rejected') throw made.reason;
      if (made.value.length + dropped.length + retiredDeadLetters > 0) {
        logger.info({ made: made.value, dropped, retiredDeadLetters }, 'retention applied');
      }
      return { nextInMs: undefined };
    },
  });
}
