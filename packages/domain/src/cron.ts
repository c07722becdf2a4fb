import { Cron } from 'croner';
import { CronInvalidError } from './cron-errors.ts';
import { canonicalTimezone } from './cron-timezone.ts';
import { validateCron } from './cron-validation.ts';
import { firstInstantOf, instantsOf, transitionBetween, wallAt } from './cron-wall-clock.ts';
import { maxDurationMs } from './duration.ts';
import type { WallMs } from './cron-wall-clock.ts';

/** Fires when the wall clock of a zone matches a pattern. */
export interface CronRule {
  readonly kind: 'cron';
  /** The normalised five-field expression. */
  readonly expression: string;
  /** Canonical IANA name. */
  readonly timezone: string;
  readonly isFixedTime: boolean;
}

/** Fires at the anchor and then once per interval of elapsed time, whatever the wall clocks do. */
export interface EveryRule {
  readonly kind: 'every';
  readonly everyMs: number;
  readonly anchorAt: Date;
}

/** When a schedule fires. */
export type ScheduleRule = CronRule | EveryRule;

/** The shortest interval of an `every` rule. */
export const minEveryMs = 1_000;

// Clocks are set back by a day at most (where the date line moved).
const longestOverlapMs = 26 * 3_600_000;
const matchers = new Map<string, Cron>();

/**
 * Reads a five-field cron expression and an IANA time zone. See `validateCron` for what is accepted.
 *
 * @throws CronInvalidError, TimezoneInvalidError
 */
export function parseCron(expression: string, timezone: string): CronRule {
  const { text, isFixedTime } = validateCron(expression);
  const rule: CronRule = {
    kind: 'cron',
    expression: text,
    timezone: canonicalTimezone(timezone),
    isFixedTime,
  };
  if (nextFire(rule, new Date('2024-01-01T00:00:00Z')) === undefined) {
    throw new CronInvalidError('The cron expression never fires');
  }
  return rule;
}

/**
 * An interval rule whose first instant is the anchor.
 *
 * @throws CronInvalidError when the interval is shorter than a second or longer than ten years
 */
export function parseEvery(everyMs: number, anchorAt: Date): EveryRule {
  if (!Number.isInteger(everyMs) || everyMs < minEveryMs || everyMs > maxDurationMs) {
    throw new CronInvalidError('An interval is between 1s and ten years, in whole milliseconds');
  }
  if (Number.isNaN(anchorAt.getTime())) throw new CronInvalidError('The anchor is not a time');
  return { kind: 'every', everyMs, anchorAt };
}

/**
 * The first instant after `after` at which the rule fires, always later than `after`; `undefined` when there is none.
 *
 * When clocks change: a fixed time that falls into a gap fires at the first instant after the gap; in a repeated hour
 * it fires once, the first time. A pattern with a wildcard or step in minute or hour fires at every instant whose wall
 * clock matches.
 */
export function nextFire(rule: ScheduleRule, after: Date): Date | undefined {
  const afterMs = after.getTime();
  const nextMs = rule.kind === 'every' ? nextEvery(rule, afterMs) : nextCron(rule, afterMs);
  // A schedule that does not move forward would fire for ever: better none than that.
  return nextMs === undefined || nextMs <= afterMs ? undefined : new Date(nextMs);
}

/** The next `count` instants after `after`, ascending. */
export function nextFires(
  rule: ScheduleRule,
  { after, count }: { readonly after: Date; readonly count: number },
): readonly Date[] {
  const fires: Date[] = [];
  let last = nextFire(rule, after);
  while (last !== undefined && fires.length < count) {
    fires.push(last);
    last = nextFire(rule, last);
  }
  return fires;
}

/** The latest `limit` instants in (after, until], ascending. */
export function previousFires(
  rule: ScheduleRule,
  range: { readonly after: Date; readonly until: Date; readonly limit: number },
): readonly Date[] {
  const fires: Date[] = [];
  let fire = nextFire(rule, skipAhead(rule, range));
  while (fire !== undefined && fire <= range.until) {
    fires.push(fire);
    if (fires.length > range.limit) fires.shift();
    fire = nextFire(rule, fire);
  }
  return fires;
}

/** An interval can be counted: start just before the last `limit` instants. */
function skipAhead(
  rule: ScheduleRule,
  { after, until, limit }: { readonly after: Date; readonly until: Date; readonly limit: number },
): Date {
  if (rule.kind === 'cron') return after;
  return new Date(Math.max(after.getTime(), until.getTime() - (limit + 1) * rule.everyMs));
}

function nextEvery({ everyMs, anchorAt }: EveryRule, afterMs: number): number {
  const anchorMs = anchorAt.getTime();
  if (afterMs < anchorMs) return anchorMs;
  return anchorMs + (Math.floor((afterMs - anchorMs) / everyMs) + 1) * everyMs;
}

function nextCron(rule: CronRule, afterMs: number): number | undefined {
  return rule.isFixedTime ? nextFixedTime(rule, afterMs) : nextMatch(rule, afterMs);
}

/** Each wall time of the pattern has one instant, and later wall times never have earlier ones. */
function nextFixedTime(rule: CronRule, afterMs: number): number | undefined {
  let wall = nextWall(rule, wallFloor(afterMs, rule.timezone));
  while (wall !== undefined) {
    const instantMs = firstInstantOf(wall, rule.timezone);
    if (instantMs > afterMs) return instantMs;
    wall = nextWall(rule, wall);
  }
  return undefined;
}

/** Each wall time of the pattern has as many instants as the clock shows it: none, one or two. */
function nextMatch(rule: CronRule, afterMs: number): number | undefined {
  const turnMs = transitionBetween(afterMs, afterMs + longestOverlapMs, rule.timezone);
  const beforeTurnMs = firstMatch(rule, afterMs, wallFloor(afterMs, rule.timezone));
  if (turnMs === undefined || (beforeTurnMs !== undefined && beforeTurnMs < turnMs)) {
    return beforeTurnMs;
  }
  // The clock may have been set back: look from what it shows right at the change.
  return firstMatch(rule, turnMs - 1, wallAt(turnMs, rule.timezone) - 1_000);
}

function firstMatch(rule: CronRule, afterMs: number, fromWall: WallMs): number | undefined {
  let wall = nextWall(rule, fromWall);
  while (wall !== undefined) {
    const instantMs = instantsOf(wall, rule.timezone).find((candidateMs) => candidateMs > afterMs);
    if (instantMs !== undefined) return instantMs;
    wall = nextWall(rule, wall);
  }
  return undefined;
}

function wallFloor(instantMs: number, timezone: string): WallMs {
  return wallAt(Math.floor(instantMs / 1_000) * 1_000, timezone);
}

/** The next wall time after `wall` that matches; the engine counts on a clock that never changes. */
function nextWall(rule: CronRule, wall: WallMs): WallMs | undefined {
  const next = matcherOf(rule.expression).nextRun(new Date(wall))?.getTime();
  return next === undefined || next <= wall ? undefined : next;
}

function matcherOf(expression: string): Cron {
  const known = matchers.get(expression);
  if (known !== undefined) return known;
  const matcher = new Cron(expression, { mode: '5-part', utcOffset: 0 });
  // Bounded: a process may see many expressions in its life.
  if (matchers.size >= 1_000) matchers.clear();
  matchers.set(expression, matcher);
  return matcher;
}
