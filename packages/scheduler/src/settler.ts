import { settleEndings } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import type { Loop } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

/** Workers settle what they end themselves; this is for those that died in between, and for what others end. */
const settleEveryMs = 1_000;

/** Carries out what follows from ended jobs: unblocks their children, counts in their batches, calls callbacks. */
export function createSettlerLoop(context: LoopContext): Loop {
  const { database, notifier, logger, metrics } = context;
  const settledTotal = metrics?.counter({
    name: 'job_endings_settled_total',
    help: 'Ends of jobs whose batches and children the scheduler took care of',
  });
  return createLoop({
    ...context,
    name: 'settler',
    maxIntervalMs: Math.min(settleEveryMs, context.tickMs),
    run: async () => {
      const { count, queueIds, scheduled, more } = await settleEndings(database);
      if (count > 0) {
        settledTotal?.inc(count);
        logger.debug({ count }, 'endings settled');
      }
      if (queueIds.length > 0) notifier.wakeQueues(queueIds);
      if (scheduled) notifier.wakeSchedulers();
      return { nextInMs: more ? 0 : undefined };
    },
  });
}
