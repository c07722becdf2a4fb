import { describe, expect, it } from 'vitest';
import { describeCron, describeRhythm } from '../src/format/cron.ts';
import {
  formatDurationAxis,
  formatDurationMs,
  formatDurationShort,
} from '../src/format/duration.ts';
import { formatBytes, formatCount, formatRate, formatShare, plural } from '../src/format/number.ts';
import { describeProgress } from '../src/format/progress.ts';
import { formatRelative } from '../src/format/time.ts';
import { drawnValues } from '../src/ui/chart/chart-data.ts';

describe('words for numbers', () => {
  it.each([
    [0, '0 ms'],
    [0.25, '0.3 ms'],
    [820, '820 ms'],
    [3_240, '3.2 s'],
    [42_000, '42 s'],
    [125_000, '2 min 5 s'],
    [3_600_000, '1 h'],
    [100_800_000, '1 d 4 h'],
    [-5, '0 ms'],
    [Number.NaN, '–'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDurationMs(ms)).toBe(text);
  });

  it('keeps the labels of an axis short', () => {
    expect([500, 50_000, 100_000, 7_200_000].map(formatDurationAxis)).toEqual([
      '500 ms',
      '50 s',
      '1.7 min',
      '2 h',
    ]);
  });

  it('says how far an instant is', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const at = (ms: number) => formatRelative(new Date(nowMs + ms).toISOString(), nowMs);
    expect([at(-12_000), at(240_000), at(400)]).toEqual(['12 s ago', 'in 4 min', 'now']);
    expect(formatDurationShort(90_000_000)).toBe('1 d');
  });

  it('writes counts, rates, shares and sizes', () => {
    expect([formatCount(12_345), formatCount(1_234_567)]).toEqual(['12,345', '1.2M']);
    expect([formatRate(0), formatRate(0.42), formatRate(1_203.6)]).toEqual(['0', '0.4', '1,204']);
    expect([formatShare(0), formatShare(0.003), formatShare(0.53)]).toEqual([
      '0 %',
      '0.3 %',
      '53 %',
    ]);
    expect([formatBytes(0), formatBytes(2_048), formatBytes(92_000_000)]).toEqual([
      '0 B',
      '2.0 KiB',
      '87.7 MiB',
    ]);
    expect([plural(1, 'job'), plural(2, 'job')]).toEqual(['1 job', '2 jobs']);
  });
});

describe('words for schedules and progress', () => {
  it('reads cron expressions, and gives up on what is none', () => {
    expect(describeCron('30 4 * * 1')).toBe('At 04:30, only on Monday');
    expect(describeCron('nonsense')).toBeUndefined();
    expect(describeRhythm({ cron: null, every: '5m' })).toBe('Every 5m');
  });

  it('reads what handlers report', () => {
    expect(describeProgress({ percent: 33.4, note: 'page 1 of 3' })).toBe('33 %, page 1 of 3');
    expect(describeProgress(['a'])).toBe('["a"]');
    expect(describeProgress(null)).toBeUndefined();
  });
});

describe('stacked bars', () => {
  it('stand on each other, and lines do not', () => {
    const series = [
      { label: 'Done', colorVariable: '--x', values: [1, 2] },
      { label: 'Failed', colorVariable: '--x', values: [3, null] },
    ];
    expect(drawnValues({ timesS: [0, 60], series, shape: 'bars' })).toEqual([
      [1, 2],
      [4, 2],
    ]);
    expect(drawnValues({ timesS: [0, 60], series, shape: 'lines' })).toEqual([
      [1, 2],
      [3, null],
    ]);
  });
});
