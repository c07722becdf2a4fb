import { nextDueInMs, promoteJobs } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import { roundUntilDue } from './round-until-due.ts';
import type { Loop } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

/** Queues the jobs whose time has come, ends the pauses whose end has come, and sleeps until the next of either. */
export function createPromoter(context: LoopContext): Loop {
  const { database, notifier, logger, metrics } = context;
  const promotedTotal = metrics?.counter({
    name: 'jobs_promoted_total',
    help: 'Scheduled jobs that became due and were queued',
  });
  return createLoop({
    ...context,
    name: 'promoter',
    maxIntervalMs: context.tickMs,
    run: async () => {
      const { count, queueIds, more } = await promoteJobs(database);
      if (count > 0) {
        promotedTotal?.inc(count);
        logger.debug({ count }, 'jobs promoted');
      }
      if (queueIds.length > 0) notifier.wakeQueues(queueIds);
      if (more) return { nextInMs: 0 };
      return roundUntilDue(await nextDueInMs(database));
    },
  });
}
