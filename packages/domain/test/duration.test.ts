import { formatDuration, maxDurationMs, parseDurationMs } from '@holdfast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['PT5M', 300_000],
    ['PT0S', 0],
    ['PT1.25S', 1_250],
    ['P1DT2H', 93_600_000],
    ['P2W', 1_209_600_000],
    ['P1W1DT1H1M1S', 694_861_000],
    ['3650d', maxDurationMs],
  ])('"%s" is %i ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    ...['', ' ', '5', '5 m', ' 5m', '5m ', '-5m', '+5m', '5M', '5min', '1h30m', 'm', '.5s', '5.s'],
    ...['1e3s', 'NaN', 'Infinity', '5m5m', '٣s', '1,5s', '0x10s', '1.2345s'],
    ...['P', 'PT', 'P1', 'P1Y', 'P1M', 'PT5', 'pt5m', 'P1DT', 'PT1.5H', 'P-1D', 'PT1S1M'],
    ...['3651d', '999999999999d', 'P99999W'],
  ])('"%s" is none', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });

  it('is a whole number of milliseconds within ten years, or none, whatever the text', () => {
    const unit = fc.constantFrom('ms', 's', 'm', 'h', 'd');
    const number = fc.double({ min: 0, max: 1e13, noNaN: true }).map(String);
    const texts = fc.oneof(
      fc.string(),
      fc.tuple(number, unit).map((parts) => parts.join('')),
      number.map((each) => `PT${each}S`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const ms = parseDurationMs(text);
        if (ms === undefined) return;
        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(maxDurationMs);
      }),
    );
  });
});

describe('a written duration', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_500, '1500ms'],
    [60_000, '1m'],
    [90_000, '90s'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
    [604_800_000, '7d'],
  ])('%i ms is "%s"', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('is read back as the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxDurationMs }), (ms) => {
        expect(parseDurationMs(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});
