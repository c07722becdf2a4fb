import { CronInvalidError } from './cron-errors.ts';

/** A cron expression that passed validation. */
export interface CronPattern {
  /** Five fields, upper case, single spaces. */
  readonly text: string;
  /**
   * True when neither minute nor hour has a wildcard or a step: such a pattern names fixed times of
   * day, the others run by elapsed time. The difference shows when clocks change.
   */
  readonly isFixedTime: boolean;
}

/** Longest accepted expression, in characters. */
export const maxCronLength = 128;

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  /** Accepts the field's special forms, such as `L`; the text is upper case. */
  readonly special?: RegExp;
}

type FieldValue = number | 'special';

const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
const monthNames = [
  ...['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN'],
  ...['JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
] as const;
const daysInMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

const minuteRule: FieldRule = { name: 'minute', min: 0, max: 59 };
const hourRule: FieldRule = { name: 'hour', min: 0, max: 23 };
const dayOfMonthRule: FieldRule = { name: 'day of month', min: 1, max: 31, special: /^L$/ };
const monthRule: FieldRule = { name: 'month', min: 1, max: 12, names: ['', ...monthNames] };
const dayOfWeekRule: FieldRule = {
  name: 'day of week',
  min: 0,
  max: 7,
  names: dayNames,
  special: /^([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(L|#[1-5])$/,
};
const rules = [minuteRule, hourRule, dayOfMonthRule, monthRule, dayOfWeekRule] as const;

/**
 * Checks a five-field cron expression: `minute hour day-of-month month day-of-week`.
 *
 * Accepted in every field: `*`, a value, a range `a-b`, a step (`/n` after a wildcard or a range), and
 * lists of these; names for months and days of the week (7 is Sunday too); `L` (last day) as day of
 * month; `5L` (last Friday) and `5#2` (second Friday) as day of week. When both day fields are set, a
 * day that matches either one counts.
 *
 * @throws CronInvalidError for everything else, also for a day that no month has
 */
export function validateCron(expression: string): CronPattern {
  if (expression.length > maxCronLength) {
    throw new CronInvalidError(`A cron expression has at most ${String(maxCronLength)} characters`);
  }
  // Other alphabets have letters and digits that turn into ours in upper case.
  if (!/^[\t\x20-\x7e]*$/.test(expression)) {
    throw new CronInvalidError('A cron expression has ASCII characters only');
  }
  const text = expression
    .trim()
    .toUpperCase()
    .replace(/[ \t]+/g, ' ');
  const fields = text.split(' ');
  if (fields.length !== rules.length || fields[0] === '') {
    throw new CronInvalidError(
      'A cron expression has five fields: minute, hour, day of month, month, day of week',
    );
  }
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  checkField(minute, minuteRule);
  checkField(hour, hourRule);
  const days = checkField(dayOfMonth, dayOfMonthRule);
  const months = checkField(month, monthRule);
  checkField(dayOfWeek, dayOfWeekRule);
  if (dayOfWeek === '*') checkDayExists(days, months);
  return { text, isFixedTime: !/[*/]/.test(minute + hour) };
}

/** Checks one field and gives its plain values; special forms such as `L` have none. */
function checkField(field: string, rule: FieldRule): readonly FieldValue[] {
  return field
    .split(',')
    .flatMap((item): FieldValue[] =>
      rule.special?.test(item) === true ? ['special'] : valuesOf(item, rule),
    );
}

function valuesOf(item: string, rule: FieldRule): number[] {
  const [, range = '', stepText] = /^([^/]*)(?:\/([0-9]{1,2}))?$/.exec(item) ?? [];
  if (range === '') throw refused(item, rule);
  const [first, last] = boundsOf(range, rule, { item, hasStep: stepText !== undefined });
  const step = stepText === undefined ? 1 : Number(stepText);
  if (step < 1 || step > rule.max) throw refused(item, rule);
  const count = Math.floor((last - first) / step) + 1;
  return Array.from({ length: count }, (_, index) => first + index * step);
}

function boundsOf(
  range: string,
  rule: FieldRule,
  { item, hasStep }: { readonly item: string; readonly hasStep: boolean },
): readonly [first: number, last: number] {
  if (range === '*') return [rule.min, rule.max];
  const [firstText = '', lastText, ...more] = range.split('-');
  const first = valueOf(firstText, rule);
  const last = lastText === undefined ? first : valueOf(lastText, rule);
  // `5/15` means different things to different crons: `5-59/15` says it.
  const isLoneStep = hasStep && lastText === undefined;
  if (first === undefined || last === undefined || more.length > 0 || last < first || isLoneStep) {
    throw refused(item, rule);
  }
  return [first, last];
}

function valueOf(text: string, rule: FieldRule): number | undefined {
  const byName = text === '' ? -1 : (rule.names?.indexOf(text) ?? -1);
  if (byName >= 0) return byName;
  if (!/^[0-9]{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= rule.min && value <= rule.max ? value : undefined;
}

function checkDayExists(days: readonly FieldValue[], months: readonly FieldValue[]): void {
  const longestMonth = Math.max(
    ...months.map((month) => (month === 'special' ? 31 : (daysInMonth[month - 1] ?? 31))),
  );
  if (days.every((day) => day !== 'special' && day > longestMonth)) {
    throw new CronInvalidError('The cron expression names a day that none of its months has');
  }
}

function refused(item: string, rule: FieldRule): CronInvalidError {
  const shown = item.length > 20 ? `${item.slice(0, 20)}…` : item;
  return new CronInvalidError(
    `"${shown}" is not accepted as ${rule.name} (${String(rule.min)}-${String(rule.max)})`,
  );
}
