import type { ScheduleInput, SchedulePatch } from '@holdfast/contract';
import type {
  ScheduledJobTemplate,
  ScheduleSettings,
  ScheduleTiming,
  ScheduleView,
} from '@holdfast/database';
import {
  CronInvalidError,
  TimezoneInvalidError,
  canonicalTimezone,
  nextFire,
  parseCron,
  parseEvery,
} from '@holdfast/domain';
import type { ScheduleRule } from '@holdfast/domain';
import { HttpProblem } from './http/problem.ts';
import { templateOf } from './job-template.ts';
import { payloadJsonOf } from './jobs-from-input.ts';

const defaultCatchUpWindowMs = 3_600_000;

/**
 * The settings of a new schedule; its first instant is after `now`.
 *
 * @throws HttpProblem `cron_invalid` or `timezone_invalid`
 */
export function newSettings(input: ScheduleInput, now: Date): ScheduleSettings {
  const timing = timingOf(input, now);
  return {
    timing,
    job: scheduledJobOf(input.job),
    catchUp: input.catchUp ?? 'latest',
    catchUpWindowMs: input.catchUpWindow ?? defaultCatchUpWindowMs,
    overlap: input.overlap ?? 'skip',
    nextFireAt: nextAfter(timing, now),
  };
}

/**
 * The settings after a change. A new timing never fires for the past.
 *
 * @throws HttpProblem `cron_invalid` or `timezone_invalid`
 */
export function changedSettings(
  before: ScheduleView,
  patch: SchedulePatch,
  now: Date,
): ScheduleSettings {
  const isRetimed =
    patch.cron !== undefined || patch.every !== undefined || patch.timezone !== undefined;
  const timing = isRetimed ? changedTiming(before.timing, patch, now) : before.timing;
  return {
    timing,
    job: patch.job === undefined ? before.job : scheduledJobOf(patch.job),
    catchUp: patch.catchUp ?? before.catchUp,
    catchUpWindowMs: patch.catchUpWindow ?? before.catchUpWindowMs,
    overlap: patch.overlap ?? before.overlap,
    nextFireAt: isRetimed ? nextAfter(timing, now) : before.nextFireAt,
  };
}

/** The first instant of a timing after `now`; `undefined` when there is none. */
export function nextAfter(timing: ScheduleTiming, now: Date): Date | undefined {
  return nextFire(ruleOf(timing), now);
}

/**
 * Reads a cron expression and a zone.
 *
 * @throws HttpProblem `cron_invalid` or `timezone_invalid`, pointing at the field
 */
export function readCron(cron: string, timezone: string): ScheduleRule & { readonly kind: 'cron' } {
  return orProblem(() => parseCron(cron, timezone));
}

function ruleOf(timing: ScheduleTiming): ScheduleRule {
  return 'cron' in timing
    ? parseCron(timing.cron, timing.timezone)
    : parseEvery(timing.everyMs, timing.anchorAt);
}

interface AskedTiming {
  readonly cron?: string | undefined;
  readonly every?: number | undefined;
  readonly timezone: string;
}

function timingOf({ cron, every, timezone }: AskedTiming, now: Date): ScheduleTiming {
  if (cron !== undefined) {
    const rule = readCron(cron, timezone);
    return { cron: rule.expression, timezone: rule.timezone };
  }
  return orProblem(() => ({
    everyMs: every ?? 0,
    anchorAt: now,
    timezone: canonicalTimezone(timezone),
  }));
}

function changedTiming(before: ScheduleTiming, patch: SchedulePatch, now: Date): ScheduleTiming {
  const timezone = patch.timezone ?? before.timezone;
  if (patch.cron !== undefined || patch.every !== undefined) {
    return timingOf({ cron: patch.cron, every: patch.every, timezone }, now);
  }
  // Only the zone changes: an interval keeps its anchor.
  if ('cron' in before) return timingOf({ cron: before.cron, timezone }, now);
  return orProblem(() => ({ ...before, timezone: canonicalTimezone(timezone) }));
}

function orProblem<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof CronInvalidError) {
      const errors = [{ pointer: '/cron', detail: error.message }];
      throw new HttpProblem('cron_invalid', { detail: error.message, errors });
    }
    if (error instanceof TimezoneInvalidError) {
      const errors = [{ pointer: '/timezone', detail: error.message }];
      throw new HttpProblem('timezone_invalid', { detail: error.message, errors });
    }
    throw error;
  }
}

function scheduledJobOf({ payload, ...job }: ScheduleInput['job']): ScheduledJobTemplate {
  payloadJsonOf(payload, '/job');
  return { ...templateOf(job), payload: payload ?? {} };
}
