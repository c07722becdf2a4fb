import {
  CronInvalidError,
  TimezoneInvalidError,
  canonicalTimezone,
  nextFire,
  nextFires,
  parseCron,
  parseEvery,
  previousFires,
} from '@holdfast/domain';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

function fires(text: string, zone: string, [from, until]: readonly [string, string]): string[] {
  const rule = parseCron(text, zone);
  const range = { after: new Date(Date.parse(from) - 1), until: new Date(Date.parse(until) - 1) };
  return previousFires(rule, { ...range, limit: 5_000 }).map((fire) => fire.toISOString());
}

describe('a cron expression', () => {
  it.each([
    ['* * * * *', '* * * * *'],
    ['  0\t12   * *  mon ', '0 12 * * MON'],
    ['0-59/5 9-17 1,15,L jan-dec/3 sun#2,5l', '0-59/5 9-17 1,15,L JAN-DEC/3 SUN#2,5L'],
    ['0 0 31 1-4 *', '0 0 31 1-4 *'],
    ['0 0 30 2 1', '0 0 30 2 1'],
  ])('%s is accepted', (text, normalised) => {
    expect(parseCron(text, 'UTC').expression).toBe(normalised);
  });

  it.each([
    '',
    ' ',
    '*',
    '* * * *',
    '* * * * * *',
    '* * * * * * *',
    '*/0 * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 0 *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '1,,2 * * * *',
    ',1 * * * *',
    '1, * * * *',
    '0 0 30 2 *',
    '0 0 31 4,6,9,11 *',
    '? * * * *',
    '0 0 ? * *',
    'L * * * *',
    '0 0 LW * *',
    '0 0 15W * *',
    '0 0 L-3 * *',
    '0 0 * * L',
    '0 0 * * 1#6',
    '0 0 * * 1#0',
    '0 0 * * #1',
    '0 0 * * 1#L',
    '0 0 * FOO *',
    '0 0 * * MONDAY',
    '0 0 * * FRI-MON',
    '@reboot',
    '@daily',
    '@hourly',
    '٣ * * * *',
    '１ * * * *',
    '0 0 * * ſun',
    '5/15 * * * *',
    '*/60 * * * *',
    '*/1.5 * * * *',
    '-1 * * * *',
    '1-2-3 * * * *',
    '*-5 * * * *',
    '/5 * * * *',
    '*/ * * * *',
    '0x1 * * * *',
    '1e1 * * * *',
    '+1 * * * *',
    '0 0 * * 1\n',
    '0\u00a00 * * *',
    `${'0,'.repeat(5_000)}0 * * * *`,
    '007 * * * *',
    'H * * * *',
    '0 0 * * * 2030',
    'TZ=UTC 0 0 * * *',
    '0 0 * JAN-0 *',
  ])('%j is refused', (text) => {
    expect(() => parseCron(text, 'UTC')).toThrow(CronInvalidError);
  });

  it('is refused or understood, whatever it is, and then always moves forward', () => {
    const item = fc.stringMatching(/^[0-9*/,\-L#]{1,6}$/);
    fc.assert(
      fc.property(fc.tuple(item, item, item, item, item), (fields) => {
        try {
          const rule = parseCron(fields.join(' '), 'Europe/Berlin');
          const after = new Date('2025-10-26T00:30:00Z');
          expect(nextFire(rule, after)?.getTime()).toBeGreaterThan(after.getTime());
        } catch (error) {
          expect(error).toBeInstanceOf(CronInvalidError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a time zone', () => {
  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['Etc/UTC', 'UTC'],
    ['utc', 'UTC'],
    ['US/Eastern', 'America/New_York'],
    ['America/Argentina/Buenos_Aires', 'America/Buenos_Aires'],
    ['Australia/Lord_Howe', 'Australia/Lord_Howe'],
  ])('%s is %s', (name, canonical) => {
    expect(canonicalTimezone(name)).toBe(canonical);
  });

  it.each([
    'Mars/Phobos',
    '+02:00',
    '-05',
    'UTC+2',
    'GMT+5',
    'EST5EDT',
    'FOO+99',
    'EST',
    '',
    ' ',
    'Z',
    'Europe/Berlin ',
    'posix/Europe/Berlin',
    '../../etc/passwd',
    'local',
    'CET-1CEST',
    '<+02>-2',
  ])('%j is refused', (name) => {
    expect(() => parseCron('* * * * *', name)).toThrow(TimezoneInvalidError);
  });
});

describe('when clocks change', () => {
  it('a quarter-hourly schedule has 100 instants on a day of 25 hours and 92 on one of 23', () => {
    const text = '*/15 * * * *';
    const zone = 'Europe/Berlin';
    expect(fires(text, zone, ['2025-10-25T22:00:00Z', '2025-10-26T23:00:00Z'])).toHaveLength(100);
    expect(fires(text, zone, ['2025-03-29T23:00:00Z', '2025-03-30T22:00:00Z'])).toHaveLength(92);
  });

  it.each([
    ['in the gap at the first valid instant', '2025-03-30', '2025-03-30T01:00:00.000Z'],
    ['in the repeated hour the first time', '2025-10-26', '2025-10-26T00:30:00.000Z'],
  ])('a daily time fires once: %s', (_, day, expected) => {
    const range = [`${day}T00:00:00Z`, `${day}T12:00:00Z`] as const;
    expect(fires('30 2 * * *', 'Europe/Berlin', range)).toEqual([expected]);
  });

  it.each([
    ['0 0 * * 2#1', 'Europe/Berlin', '2025-03-20', ['2025-03-31T22:00', '2025-05-05T22:00']],
    ['0 9 * * 1', 'America/New_York', '2025-03-03', ['2025-03-03T14:00', '2025-03-10T13:00']],
    ['0 12 * * 1#5', 'Australia/Sydney', '2025-03-01', ['2025-03-31T01:00', '2025-06-30T02:00']],
    ['0 0 * * 0#1', 'America/Sao_Paulo', '2018-11-01', ['2018-11-04T03:00', '2018-12-02T02:00']],
    ['0 0 L * *', 'Asia/Tokyo', '2025-02-01', ['2025-02-27T15:00', '2025-03-30T15:00']],
    ['59 23 * * 5L', 'Pacific/Auckland', '2025-09-01', ['2025-09-26T11:59', '2025-10-31T10:59']],
  ])('%s in %s keeps to the calendar', (text, zone, from, expected) => {
    const rule = parseCron(text, zone);
    const found = nextFires(rule, { after: new Date(`${from}T00:00:00Z`), count: 2 });
    expect(found.map((fire) => fire.toISOString().slice(0, 16))).toEqual(expected);
  });

  it('the zone of the host makes no difference', () => {
    const script = fileURLToPath(new URL('cron-host-zone.ts', import.meta.url));
    const outputs = ['UTC', 'Australia/Sydney', 'America/Los_Angeles', 'Australia/Lord_Howe'].map(
      (zone) =>
        execFileSync(
          process.execPath,
          ['--import', 'tsx', '--conditions=@holdfast/source', script],
          { env: { PATH: process.env['PATH'], TZ: zone }, encoding: 'utf8' },
        ),
    );
    expect(outputs[0]).toContain('2025-10-26T');
    expect(new Set(outputs).size).toBe(1);
  }, 60_000);
});

describe('an interval', () => {
  const anchorAt = new Date('2025-10-26T00:00:10Z');

  it('fires at the anchor and then once per interval, through clock changes', () => {
    const rule = parseEvery(3_600_000, anchorAt);
    expect(nextFire(rule, new Date('2020-01-01T00:00:00Z'))).toEqual(anchorAt);
    expect(nextFire(rule, anchorAt)).toEqual(new Date('2025-10-26T01:00:10Z'));
    expect(nextFire(rule, new Date('2026-03-29T01:30:00Z'))).toEqual(
      new Date('2026-03-29T02:00:10Z'),
    );
  });

  it.each([0, -1, 999, 1_000.5, NaN, Infinity, 4e11])('of %s ms is refused', (everyMs) => {
    expect(() => parseEvery(everyMs, anchorAt)).toThrow(CronInvalidError);
  });
});

describe('the instants before now', () => {
  const after = new Date('2025-06-01T10:00:00Z');
  const until = new Date('2025-06-01T10:05:00Z');

  it.each([
    ['a cron rule', parseCron('* * * * *', 'UTC')],
    ['an interval', parseEvery(60_000, new Date('2025-01-01T00:00:00Z'))],
  ])('of %s exclude the start, include the end, and are the latest', (_, rule) => {
    const all = previousFires(rule, { after, until, limit: 100 });
    expect(all.map((fire) => fire.getUTCMinutes())).toEqual([1, 2, 3, 4, 5]);
    const latest = previousFires(rule, { after, until, limit: 2 });
    expect(latest.map((fire) => fire.getUTCMinutes())).toEqual([4, 5]);
    expect(previousFires(rule, { after: until, until: after, limit: 5 })).toEqual([]);
  });
});
