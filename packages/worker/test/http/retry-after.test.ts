import { expect, it } from 'vitest';
import { maxRetryAfterMs, parseRetryAfterMs } from '../../src/http/retry-after.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

it.each([
  ['1', 1_000],
  ['120', 120_000],
  [' 120 ', 120_000],
  ['3600', 3_600_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
  ['Thu Jan  1 12:00:30 2026', 30_000],
])('%j is a wait of %i ms', (value, waitMs) => {
  expect(parseRetryAfterMs(value, now)).toBe(waitMs);
});

it.each(['3601', '86400', '999999999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
  '%j is cut to the longest wait',
  (value) => {
    expect(parseRetryAfterMs(value, now)).toBe(maxRetryAfterMs);
  },
);

it.each([
  undefined,
  '',
  '0',
  '-5',
  '+5',
  'abc',
  '1h',
  '1.5',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  '9'.repeat(400),
  '2026-01-01T12:00:30Z',
  'Thu, 01 Jan 2026 12:00:30 +0100',
  'Thu, 99 Jan 2026 12:00:30 GMT',
  'Thu, 01 Jan 2026 11:59:59 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  ['5', '10'],
])('%j is ignored', (value) => {
  expect(parseRetryAfterMs(value, now)).toBeUndefined();
});
