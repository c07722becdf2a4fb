import { settleEndings, wakeForJobs } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import type { Loop } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

/** Workers settle what they end themselves; this is for those that died in between, and for what others end. */
const settleEveryMs = 1_000;

/** What somebody else holds is free again soon. */
const blockedMs = 100;

/** Carries out what follows from ended jobs: unblocks their children, counts in their batches, calls callbacks. */
export function createSettlerLoop(context: LoopContext): Loop {
  const { database, notifier, logger, metrics } = context;
  const settledTotal = metrics?.counter({
    name: 'job_endings_settled_total',
    help: 'Ends of jobs whose batches and children the scheduler took care of',
  });
  const failedTotal = metrics?.counter({
    name: 'job_endings_failed_total',
    help: 'Tries to do what follows from the end of a job that came to an error; anything but 0 needs attention',
  });
  return createLoop({
    ...context,
    name: 'settler',
    maxIntervalMs: Math.min(settleEveryMs, context.tickMs),
    run: async () => {
      const settled = await settleEndings(database);
      const { count, more, isBlocked, failures, renamed } = settled;
      if (count > 0) {
        settledTotal?.inc(count);
        logger.debug({ count }, 'endings settled');
      }
      wakeForJobs(notifier, settled);
      for (const { error, ...about } of failures) {
        failedTotal?.inc();
        logger.error({ ...about, err: error }, 'what follows from an ended job could not be done');
      }
      for (const callback of renamed) {
        logger.warn(
          callback,
          'the id of a callback was taken by another job, so the callback has a new one',
        );
      }
      if (more) return { nextInMs: 0 };
      return { nextInMs: isBlocked ? blockedMs : undefined };
    },
  });
}
