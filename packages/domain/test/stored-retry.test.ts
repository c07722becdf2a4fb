import { backoffDelay, defaultRetryPolicy, maxBackoffMs, readStoredRetry } from '@holdfast/domain';
import { expect, it } from 'vitest';
import type { BackoffDelay, BackoffPolicy } from '@holdfast/domain';

/** What may stand in a document of JSON, and what is left out. */
const values = [undefined, null, 0, -1, 0.4, 30_000, 1e308, '', '5s', 'NaN', {}, [], true];
const attempts = [1, 2, 7, 1_000, 2_147_483_647];
const chances = [0, 0.5, 1 - Number.EPSILON];

const isNoNumber = (value: unknown): boolean => typeof value !== 'number' || value < 0;

/** With every value for every one of the names. */
function* combinations(names: readonly string[]): Generator<Readonly<Record<string, unknown>>> {
  const [name, ...rest] = names;
  if (name === undefined) {
    yield {};
    return;
  }
  for (const others of combinations(rest))
    for (const value of values) yield { ...others, [name]: value };
}

function* backoffs(): Generator {
  yield* values;
  yield* combinations(['kind']);
  for (const own of combinations(['baseMs', 'factor', 'maxMs', 'jitter'])) {
    yield { kind: 'exponential', ...own };
    if (own['jitter'] === undefined) yield { kind: 'exponential', ...own, jitter: 'none' };
  }
  for (const own of combinations(['delayMs', 'delaysMs'])) {
    yield { kind: 'fixed', ...own };
    yield { kind: 'list', ...own };
  }
  for (const value of values) yield { kind: 'list', delaysMs: [value] };
}

/** Says neither a wait nor what makes it shorter, in numbers that can be. */
function namesNoWait(backoff: unknown): boolean {
  if (typeof backoff !== 'object' || backoff === null) return true;
  const own: Readonly<Record<string, unknown>> = { ...backoff };
  switch (own['kind']) {
    case 'exponential':
      return ['baseMs', 'factor', 'maxMs'].every((name) => isNoNumber(own[name]));
    case 'fixed':
      return isNoNumber(own['delayMs']);
    case 'list':
      return !Array.isArray(own['delaysMs']) || own['delaysMs'].every(isNoNumber);
    default:
      return true;
  }
}

/** What is wrong about the waits of a policy that stands for the stored backoff. */
function wrongDelays(stored: unknown, policy: BackoffPolicy): readonly BackoffDelay[] {
  const ownMaxMs = policy.kind === 'exponential' ? policy.maxMs : Infinity;
  const leastMs = namesNoWait(stored) ? 1_000 : 0;
  const delays = attempts.flatMap((attempt) =>
    chances.map((chance) => backoffDelay(policy, attempt, () => chance)),
  );
  const mostMs = Math.min(maxBackoffMs, Math.round(ownMaxMs));
  return delays.filter(
    ({ delayMs, clamped }) =>
      clamped || !Number.isInteger(delayMs) || delayMs < leastMs || delayMs > mostMs,
  );
}

it('every stored backoff, whatever it lacks, gives a wait from zero to a day', () => {
  let count = 0;
  for (const backoff of backoffs()) {
    const policy = readStoredRetry(JSON.parse(JSON.stringify({ backoff })));
    const wrong = wrongDelays(backoff, policy.backoff);
    count += 1;
    if (wrong.length > 0) expect.fail(`${JSON.stringify(backoff)} gives ${JSON.stringify(wrong)}`);
  }
  expect(count).toBeGreaterThan(30_000);
});

it.each([undefined, null, 'manual', 7, [], {}, { mode: null }, { mode: 'some', backoff: null }])(
  'of %j the policy is the default one',
  (stored) => {
    expect(readStoredRetry(stored)).toEqual(defaultRetryPolicy);
  },
);

it.each([
  { kind: 'exponential', baseMs: '5s', factor: 'two', maxMs: -1, jitter: 7 },
  { kind: 'fixed', delayMs: '5s' },
  { kind: 'list', delaysMs: [1, 'soon'] },
  { kind: 'list', delaysMs: 'soon' },
])('of the backoff %j, in which no number can be, it is the default one', (backoff) => {
  expect(readStoredRetry({ backoff })).toEqual(defaultRetryPolicy);
});

it.each([
  { retryForMs: '1d', retryUntil: 'tomorrow', maxExceptions: 'three' },
  { retryForMs: -1, retryUntil: 7, maxExceptions: 0 },
  { retryForMs: 1e300, retryUntil: null, maxExceptions: 1.5 },
])('of the limits %j, of which none can be, there is none', (limits) => {
  expect(readStoredRetry(limits)).toEqual(defaultRetryPolicy);
});

it('what is right is kept', () => {
  const policy = {
    mode: 'manual',
    backoff: { kind: 'list', delaysMs: [1, 2] },
    retryForMs: 5,
    retryUntil: '2030-01-01T00:00:00Z',
    maxExceptions: 3,
  } as const;
  expect(readStoredRetry(policy)).toEqual(policy);
  const exponential = { kind: 'exponential', baseMs: 1, factor: 3, maxMs: 9, jitter: 'none' };
  expect(readStoredRetry({ backoff: exponential }).backoff).toEqual(exponential);
  const fixed = { kind: 'fixed', delayMs: 0 };
  expect(readStoredRetry({ backoff: fixed }).backoff).toEqual(fixed);
});
