import type { Schedule, ScheduleFire } from '@holdfast/contract';
import type { Fire, ScheduleView } from '@holdfast/database';
import { formatDuration } from '@holdfast/domain';
import { presentInstant, presentMaybe } from './instant.ts';
import { presentTemplate } from './job-template.ts';

/** A schedule as answered. */
export function presentSchedule(schedule: ScheduleView): Schedule {
  const { timing, paused, lastFire } = schedule;
  return {
    id: schedule.id,
    name: schedule.name,
    cron: 'cron' in timing ? timing.cron : null,
    every: 'cron' in timing ? null : formatDuration(timing.everyMs),
    timezone: timing.timezone,
    job: { ...presentTemplate(schedule.job), payload: schedule.job.payload },
    catchUp: schedule.catchUp,
    catchUpWindow: formatDuration(schedule.catchUpWindowMs),
    overlap: schedule.overlap,
    paused:
      paused === undefined
        ? null
        : {
            at: presentInstant(paused.at),
            by: paused.by ?? null,
            reason: paused.reason ?? null,
            until: null,
          },
    nextFireAt: presentMaybe(schedule.nextFireAt),
    lastFire:
      lastFire === undefined
        ? null
        : {
            fireAt: presentInstant(lastFire.fireAt),
            outcome: lastFire.outcome,
            jobId: lastFire.jobId ?? null,
          },
    createdAt: presentInstant(schedule.createdAt),
    updatedAt: presentInstant(schedule.updatedAt),
  };
}

/** What became of a due instant, as answered. */
export function presentFire(fire: Fire): ScheduleFire {
  return {
    fireAt: presentInstant(fire.fireAt),
    outcome: fire.outcome,
    jobId: fire.jobId ?? null,
    recordedAt: presentInstant(fire.recordedAt),
  };
}
