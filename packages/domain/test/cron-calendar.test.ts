import { parseCron, previousFires } from '@holdfast/domain';
import { describe, expect, it } from 'vitest';
import { ReferenceCalendar, offsetChanges } from './reference-calendar.ts';
import type { WallMinute } from './reference-calendar.ts';

const hourMs = 3_600_000;

// Half-hour changes, changes at midnight, at 24:00, twice a year and more, and none at all.
const zonesAndYears: readonly (readonly [zone: string, year: number])[] = [
  ['Africa/Cairo', 2025],
  ['Africa/Casablanca', 2026],
  ['America/Havana', 2025],
  ['America/New_York', 2025],
  ['America/Santiago', 2025],
  ['America/St_Johns', 2025],
  ['Asia/Beirut', 2025],
  ['Atlantic/Azores', 2025],
  ['Australia/Lord_Howe', 2025],
  ['Europe/Berlin', 2025],
  ['Pacific/Apia', 2011],
];

const byElapsedTime: readonly (readonly [string, (wall: WallMinute) => boolean])[] = [
  ['* * * * *', () => true],
  ['*/15 * * * *', ({ minute }) => minute % 15 === 0],
  ['0 * * * *', ({ minute }) => minute === 0],
  ['30 */2 * * *', ({ minute, hour }) => minute === 30 && hour % 2 === 0],
  ['*/20 2 * * *', ({ minute, hour }) => minute % 20 === 0 && hour === 2],
  ['5-50/15 0-3 * * *', ({ minute, hour }) => [5, 20, 35, 50].includes(minute) && hour <= 3],
  ['10 * * * 0', ({ minute, weekday }) => minute === 10 && weekday === 0],
];

const atFixedTimes: readonly (readonly [string, (wall: WallMinute) => boolean])[] = [
  ['0 0 * * *', ({ minute, hour }) => minute === 0 && hour === 0],
  ['30 0 * * *', ({ minute, hour }) => minute === 30 && hour === 0],
  ['30 1 * * *', ({ minute, hour }) => minute === 30 && hour === 1],
  ['30 2 * * *', ({ minute, hour }) => minute === 30 && hour === 2],
  ['15,45 2 * * *', ({ minute, hour }) => [15, 45].includes(minute) && hour === 2],
  ['0 1,2,3 * * *', ({ minute, hour }) => minute === 0 && [1, 2, 3].includes(hour)],
  ['0-9 0-4 * * *', ({ minute, hour }) => minute <= 9 && hour <= 4],
  ['59 23 * * *', ({ minute, hour }) => minute === 59 && hour === 23],
];

function firesWithin(expression: string, timezone: string, calendar: ReferenceCalendar): string[] {
  const rule = parseCron(expression, timezone);
  const range = { after: new Date(calendar.fromMs - 1), until: new Date(calendar.toMs) };
  return previousFires(rule, { ...range, limit: 10_000 }).map((fire) => fire.toISOString());
}

describe.each(zonesAndYears)('around the clock changes of %s in %i', (zone, year) => {
  const calendars = offsetChanges(zone, year).map(
    (changeMs) => new ReferenceCalendar(zone, changeMs - 30 * hourMs, changeMs + 30 * hourMs),
  );

  it('has changes to look at', () => {
    expect(calendars.length).toBeGreaterThan(0);
  });

  it.each(byElapsedTime)('%s fires at every matching minute of elapsed time', (text, matches) => {
    for (const calendar of calendars) {
      expect(firesWithin(text, zone, calendar)).toEqual(calendar.elapsed(matches));
    }
  });

  it.each(atFixedTimes)('%s fires once for each of its times of day', (text, matches) => {
    for (const calendar of calendars) {
      expect(firesWithin(text, zone, calendar)).toEqual(calendar.fixed(matches));
    }
  });
});

function nthOfMonth(day: number): number {
  return Math.ceil(day / 7);
}

function isLastOfMonth({ year, month, day }: WallMinute): boolean {
  return new Date(Date.UTC(year, month - 1, day + 1)).getUTCDate() === 1;
}

function isInLastWeek({ year, month, day }: WallMinute): boolean {
  return new Date(Date.UTC(year, month - 1, day + 7)).getUTCMonth() !== month - 1;
}

describe('a calendar of fourteen months', () => {
  const calendar = new ReferenceCalendar('UTC', Date.UTC(2027, 10, 15), Date.UTC(2029, 0, 10));
  const atSix = ({ minute, hour }: WallMinute) => minute === 0 && hour === 6;

  it.each<readonly [string, (wall: WallMinute) => boolean]>([
    ['0 6 * * 2#1', (w) => w.weekday === 2 && nthOfMonth(w.day) === 1],
    ['0 6 * * MON#5', (w) => w.weekday === 1 && nthOfMonth(w.day) === 5],
    ['0 6 * * 5L', (w) => w.weekday === 5 && isInLastWeek(w)],
    ['0 6 L * *', isLastOfMonth],
    ['0 6 15,L * *', (w) => w.day === 15 || isLastOfMonth(w)],
    ['0 6 29 2 *', (w) => w.day === 29 && w.month === 2],
    ['0 6 * * 7', (w) => w.weekday === 0],
    ['0 6 * * 5-7', (w) => [5, 6, 0].includes(w.weekday)],
    ['0 6 * * 0,7', (w) => w.weekday === 0],
    ['0 6 * * mon-fri/2', (w) => [1, 3, 5].includes(w.weekday)],
    ['0 6 13 * 5', (w) => w.day === 13 || w.weekday === 5],
    ['0 6 1-7 jan,JUL MON', (w) => [1, 7].includes(w.month) && (w.day <= 7 || w.weekday === 1)],
    ['0 6 */10 * *', (w) => w.day % 10 === 1],
    ['0 6 31 */2 *', (w) => w.day === 31 && w.month % 2 === 1],
    [
      '0 6 * * 1#1,3#2',
      (w) =>
        (w.weekday === 1 && nthOfMonth(w.day) === 1) ||
        (w.weekday === 3 && nthOfMonth(w.day) === 2),
    ],
  ])('%s fires on the days that a calendar shows', (text, matches) => {
    expect(firesWithin(text, 'UTC', calendar)).toEqual(
      calendar.elapsed((wall) => atSix(wall) && matches(wall)),
    );
  });
});
