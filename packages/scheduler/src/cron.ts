import { nextFireInMs } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import { fireDueSchedules } from './fire-schedules.ts';
import { roundUntilDue } from './round-until-due.ts';
import type { Loop, Logger, Metrics } from '@holdfast/runtime';
import type { FireReport } from './fire-schedules.ts';
import type { LoopContext } from './loop-context.ts';

/** Fires due schedules and sleeps until the next instant of any of them. */
export function createCron(context: LoopContext): Loop {
  const { database, notifier, logger, metrics } = context;
  const meters = metersOf(metrics);
  return createLoop({
    ...context,
    name: 'cron',
    maxIntervalMs: context.tickMs,
    run: async () => {
      const report = await fireDueSchedules(database);
      // Only now is it committed: whoever reads the log or is woken finds the job.
      if (report.queueIds.length > 0) notifier.wakeQueues(report.queueIds);
      meters.count(report);
      log(report, logger);
      if (report.hasMore) return { nextInMs: 0 };
      return roundUntilDue(await nextFireInMs(database));
    },
  });
}

function log({ fired, unfired, broken }: FireReport, logger: Logger): void {
  for (const fire of fired) logger.info(fire, 'schedule fired');
  for (const instants of unfired) {
    logger[instants.outcome === 'missed' ? 'warn' : 'info'](instants, 'schedule did not fire');
  }
  for (const { schedule, error } of broken) {
    logger.error({ err: error, scheduleId: schedule.id, name: schedule.name }, 'schedule broken');
  }
}

function metersOf(metrics: Metrics | undefined): { count(report: FireReport): void } {
  const fires = metrics?.counter({
    name: 'schedule_fires_total',
    help: 'Due instants of schedules, by what became of them',
    labelNames: ['outcome'] as const,
  });
  const missed = metrics?.counter({
    name: 'schedule_missed_total',
    help: 'Due instants that no job was made for because they were too late',
  });
  const lag = metrics?.histogram({
    name: 'schedule_lag_seconds',
    help: 'How long after its instant a schedule fired',
  });
  return {
    count: ({ fired, unfired }) => {
      for (const { outcome, lagMs } of fired) {
        fires?.inc({ outcome });
        if (outcome === 'enqueued') lag?.observe(lagMs / 1_000);
      }
      for (const { outcome, count } of unfired) {
        fires?.inc({ outcome }, count);
        if (outcome === 'missed') missed?.inc(count);
      }
    },
  };
}
