import {
  backoffDelay,
  clampDelay,
  crashBackoffMs,
  defaultBackoff,
  maxBackoffMs,
} from '@holdfast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackoffPolicy } from '@holdfast/domain';

// Any number at all: a policy may come from a handler's arithmetic.
const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, 2 ** 53, 1e308));
const anyPolicy: fc.Arbitrary<BackoffPolicy> = fc.oneof(
  fc.record({
    kind: fc.constant('exponential' as const),
    baseMs: anyNumber,
    factor: anyNumber,
    maxMs: anyNumber,
    jitter: fc.constantFrom('full' as const, 'none' as const),
  }),
  fc.record({ kind: fc.constant('list' as const), delaysMs: fc.array(anyNumber) }),
  fc.record({ kind: fc.constant('fixed' as const), delayMs: anyNumber }),
);
const anyAttempt = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1 }));
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const noChance = (): number => {
  throw new Error('Chance was asked for');
};

describe('every backoff', () => {
  it('is a whole number of milliseconds between zero and a day, whatever the policy', () => {
    fc.assert(
      fc.property(anyPolicy, anyAttempt, chance, (policy, attempt, random) => {
        const { delayMs } = backoffDelay(policy, attempt, () => random);
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(maxBackoffMs);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('exponential backoff', () => {
  const plain = { ...defaultBackoff, jitter: 'none' } as const;

  it.each([
    [1, 5_000],
    [2, 10_000],
    [3, 20_000],
    [10, 2_560_000],
    [11, 3_600_000],
    [1_000, 3_600_000],
  ])('after attempt %i waits %i ms at most', (attempt, ceilingMs) => {
    expect(backoffDelay(plain, attempt, noChance)).toEqual({ delayMs: ceilingMs, clamped: false });
  });

  it('never shrinks from one attempt to the next, without jitter', () => {
    const policies = fc.record({
      kind: fc.constant('exponential' as const),
      baseMs: fc.integer({ min: 0, max: 1_000_000 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      maxMs: fc.integer({ min: 0, max: 1e9 }),
      jitter: fc.constant('none' as const),
    });
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 200 }), (policy, attempt) => {
        const [now, next] = [attempt, attempt + 1].map((each) => {
          return backoffDelay(policy, each, noChance).delayMs;
        });
        expect(next).toBeGreaterThanOrEqual(now ?? Infinity);
      }),
    );
  });

  it('never passes the longest delay of its policy', () => {
    const policies = fc.record({
      kind: fc.constant('exponential' as const),
      baseMs: fc.integer({ min: 0, max: maxBackoffMs }),
      factor: fc.double({ min: 1, max: 1e9, noNaN: true }),
      maxMs: fc.integer({ min: 0, max: maxBackoffMs }),
      jitter: fc.constantFrom('full' as const, 'none' as const),
    });
    fc.assert(
      fc.property(policies, anyAttempt, chance, (policy, attempt, random) => {
        const { delayMs, clamped } = backoffDelay(policy, attempt, () => random);
        expect(clamped).toBe(false);
        expect(delayMs).toBeLessThanOrEqual(policy.maxMs);
      }),
      {
        numRuns: 1_000,
        examples: [
          [{ kind: 'exponential', baseMs: 0, factor: 1e9, maxMs: 5, jitter: 'none' }, 99, 0],
        ],
      },
    );
  });

  it('with full jitter takes any part of the ceiling but the first second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), chance, (attempt, random) => {
        const ceilingMs = backoffDelay(plain, attempt, noChance).delayMs;
        const { delayMs } = backoffDelay(defaultBackoff, attempt, () => random);
        expect(delayMs).toBe(Math.round(1_000 + random * (ceilingMs - 1_000)));
      }),
    );
  });

  it('with full jitter leaves out a fifth of a ceiling below five seconds', () => {
    const policy = { ...defaultBackoff, baseMs: 100 };
    expect(backoffDelay(policy, 1, () => 0)).toEqual({ delayMs: 20, clamped: false });
    expect(backoffDelay(policy, 2, () => 0)).toEqual({ delayMs: 40, clamped: false });
    expect(backoffDelay({ ...policy, baseMs: 0 }, 1, () => 0.5).delayMs).toBe(0);
  });
});

describe('a list of delays', () => {
  it('gives one after the other, and the last again and again', () => {
    const policy = { kind: 'list', delaysMs: [10, 60, 300] } as const;
    const delays = [1, 2, 3, 4, 99].map((attempt) => backoffDelay(policy, attempt, noChance));
    expect(delays.map(({ delayMs }) => delayMs)).toEqual([10, 60, 300, 300, 300]);
  });

  it('that is empty gives the cap, and says so', () => {
    const nothing = { kind: 'list', delaysMs: [] } as const;
    expect(backoffDelay(nothing, 1, noChance)).toEqual({ delayMs: maxBackoffMs, clamped: true });
  });
});

describe('a delay that is none', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -0.001])(
    '%s becomes the cap, and says so',
    (ms) => {
      expect(clampDelay(ms)).toEqual({ delayMs: maxBackoffMs, clamped: true });
    },
  );

  it.each([
    [0, 0],
    [-0, 0],
    [0.4, 0],
    [1.5, 2],
    [maxBackoffMs + 1, maxBackoffMs],
    [2 ** 60, maxBackoffMs],
  ])('%s is one, and becomes %i', (ms, delayMs) => {
    expect(clampDelay(ms).clamped).toBe(false);
    expect(clampDelay(ms).delayMs === delayMs).toBe(true);
  });
});

describe('the wait after a crash', () => {
  it.each([
    [1, 10_000],
    [2, 10_000],
    [3, 20_000],
    [4, 40_000],
    [8, 600_000],
    [1_000, 600_000],
  ])('number %i is %i ms', (crashCount, delayMs) => {
    expect(crashBackoffMs(crashCount)).toBe(delayMs);
  });
});
