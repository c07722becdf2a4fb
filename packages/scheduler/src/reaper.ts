import { reapExpiredLeases } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import type { ReapReport } from '@holdfast/database';
import type { Loop } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

/** Takes jobs away from workers whose lease ended, and forces cancels that nobody reacted to. */
export function createReaper(context: LoopContext): Loop {
  const { database, notifier, logger, metrics, leaseMs } = context;
  const rescuedTotal = metrics?.counter({
    name: 'jobs_rescued_total',
    help: 'Jobs whose lease had ended, by what became of them',
    labelNames: ['outcome'] as const,
  });
  return createLoop({
    ...context,
    name: 'reaper',
    maxIntervalMs: context.tickMs,
    run: async () => {
      const report = await reapExpiredLeases(database, { leaseMs });
      for (const outcome of outcomes) rescuedTotal?.inc({ outcome }, report[outcome]);
      if (outcomes.some((outcome) => report[outcome] > 0)) {
        logger.warn({ ...report }, 'leases expired');
      }
      // Delayed and spread jobs have a due instant that a sleeping promoter does not know of.
      if (report.delayed + report.spread > 0) notifier.wakeSchedulers();
      return { nextInMs: undefined };
    },
  });
}

const outcomes = [
  'requeued',
  'delayed',
  'poisoned',
  'spread',
  'cancelled',
] as const satisfies readonly (keyof ReapReport)[];
