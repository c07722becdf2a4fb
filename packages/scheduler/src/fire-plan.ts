import { nextFire, parseCron, parseEvery, previousFires } from '@holdfast/domain';
import type { DueSchedule } from '@holdfast/database';
import type { FireOutcome, ScheduleRule } from '@holdfast/domain';

/** What is to become of one due instant. */
export interface PlannedFire {
  readonly fireAt: Date;
  readonly outcome: Extract<FireOutcome, 'enqueued' | 'caught_up' | 'missed' | 'skipped_paused'>;
}

/** What is to be done about a due schedule. */
export interface FirePlan {
  /** Every instant that is due, oldest first. */
  readonly fires: readonly PlannedFire[];
  /** The first instant that is not due yet. */
  readonly nextFireAt: Date | undefined;
}

/** An instant that is not later than this is on time: schedulers may sleep, restart and take turns. */
const onTimeMs = 30_000;

/** The most instants that `catchUp: all` makes up for. */
export const maxCaughtUp = 100;

/** Fires are kept about this long, so older instants need no record. */
const longestRecordMs = 31 * 86_400_000;

/** Instants beyond this many per outage are not recorded one by one. */
const maxRecorded = 50_000;

/**
 * Decides what becomes of every instant of a schedule that is due at `schedule.now`.
 *
 * Instants on time are enqueued. Of the late ones, `catchUp` picks those that are made up for: none, the latest if
 * nothing newer is due, or all within the window; the others are missed. While a schedule is paused, all are skipped.
 * The next instant follows from the last one that was due, never from now.
 *
 * @throws CronInvalidError, TimezoneInvalidError when the stored rule is no longer accepted
 */
export function planFires(schedule: DueSchedule): FirePlan {
  const rule = ruleOf(schedule);
  const { now, nextFireAt } = schedule;
  const oldestMs = Math.max(nextFireAt.getTime() - 1, now.getTime() - longestRecordMs);
  const due = previousFires(rule, { after: new Date(oldestMs), until: now, limit: maxRecorded });
  const latest = due.at(-1);
  return {
    fires: outcomesOf(due, schedule),
    nextFireAt: nextFire(rule, latest ?? now),
  };
}

function ruleOf({ timing }: DueSchedule): ScheduleRule {
  return 'cron' in timing
    ? parseCron(timing.cron, timing.timezone)
    : parseEvery(timing.everyMs, timing.anchorAt);
}

function outcomesOf(due: readonly Date[], schedule: DueSchedule): readonly PlannedFire[] {
  if (schedule.isPaused) return due.map((fireAt) => ({ fireAt, outcome: 'skipped_paused' }));
  const nowMs = schedule.now.getTime();
  const isOnTime = (fireAt: Date): boolean => nowMs - fireAt.getTime() <= onTimeMs;
  const late = due.filter((fireAt) => !isOnTime(fireAt));
  const hasNewer = late.length < due.length;
  const madeUpFor = new Set(pickLate(late, schedule, { hasNewer }));
  return due.map((fireAt) => {
    if (isOnTime(fireAt)) return { fireAt, outcome: 'enqueued' };
    return { fireAt, outcome: madeUpFor.has(fireAt) ? 'caught_up' : 'missed' };
  });
}

function pickLate(
  late: readonly Date[],
  { catchUp, catchUpWindowMs, now }: DueSchedule,
  { hasNewer }: { readonly hasNewer: boolean },
): readonly Date[] {
  const within = late.filter((fireAt) => now.getTime() - fireAt.getTime() <= catchUpWindowMs);
  switch (catchUp) {
    case 'none':
      return [];
    case 'latest':
      return hasNewer ? [] : within.slice(-1);
    case 'all':
      return within.slice(-maxCaughtUp);
  }
}
