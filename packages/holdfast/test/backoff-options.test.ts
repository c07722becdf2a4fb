import {
  OptionsInvalidError,
  backoffDelay,
  defaultRetryPolicy,
  maxBackoffMs,
  readStoredRetry,
} from '@holdfast/domain';
import { expect, it } from 'vitest';
import { OptionCheck } from '../src/check-options.ts';
import { completeRetry, readRetry } from '../src/read-retry.ts';
import type { BackoffPolicy, RetryPolicy } from '@holdfast/domain';

const waits = [
  ...[undefined, null, 0, -0, -1, 0.4, 30_000, 1e308, Number.NaN, Infinity, -Infinity],
  ...['', '0s', '5s', '-5s', '2d', 'NaN', 'PT5M', {}, [], true],
];
const factors = [undefined, null, 0, 1, 2.5, 10, 11, -1, Number.NaN, Infinity, '2'];
const jitters = [undefined, null, 'full', 'none', 'some'];

const exponentials = (base: unknown, max: unknown): readonly unknown[] =>
  factors.flatMap((factor) =>
    jitters.map((jitter) => ({ kind: 'exponential', base, max, factor, jitter })),
  );

function* backoffs(): Generator {
  for (const wait of waits) {
    yield* [wait, [wait], ['1s', wait], { kind: 'fixed', delay: wait }, { kind: wait }];
    yield* [
      { kind: 'list', delays: wait },
      { kind: 'list', delays: [wait] },
    ];
    yield* waits.flatMap((max) => exponentials(wait, max));
  }
  yield* [{ kind: 'fixed' }, { kind: 'list' }, { kind: 'exponential' }];
}

/** What is stored for a job with the option; `undefined` when that is refused. */
function storedFor(backoff: unknown): RetryPolicy | undefined {
  const check = new OptionCheck('enqueue("test.job")');
  const named = readRetry(check, { backoff });
  try {
    check.done();
  } catch (error) {
    expect(error).toBeInstanceOf(OptionsInvalidError);
    return undefined;
  }
  const policy: unknown = JSON.parse(JSON.stringify(completeRetry(named, null) ?? null));
  return readStoredRetry(policy);
}

/** After several attempts, by several chances. */
const delaysOf = (policy: BackoffPolicy) =>
  [1, 2, 100].flatMap((attempt) =>
    [0, 0.5, 1 - Number.EPSILON].map((chance) => backoffDelay(policy, attempt, () => chance)),
  );

it('every backoff that is accepted gives a wait from zero to its longest, and the same when it is stored', () => {
  let [acceptedCount, refusedCount] = [0, 0];
  for (const backoff of backoffs()) {
    const retry = storedFor(backoff);
    if (retry === undefined) {
      refusedCount += 1;
      continue;
    }
    acceptedCount += 1;
    const maxMs = retry.backoff.kind === 'exponential' ? retry.backoff.maxMs : maxBackoffMs;
    const wrong = delaysOf(retry.backoff).filter(
      ({ delayMs, clamped }) =>
        clamped || !Number.isInteger(delayMs) || delayMs < 0 || delayMs > maxMs,
    );
    if (wrong.length > 0) expect.fail(`${JSON.stringify(backoff)} gives ${JSON.stringify(wrong)}`);
  }
  expect(acceptedCount).toBeGreaterThan(500);
  expect(refusedCount).toBeGreaterThan(acceptedCount);
});

it.each([
  undefined,
  { kind: 'exponential' },
  { kind: 'exponential', base: undefined, max: undefined, factor: undefined, jitter: undefined },
])('%j is the default backoff, of which every wait is a second or longer', (backoff) => {
  const retry = storedFor(backoff);
  expect(retry).toEqual(defaultRetryPolicy);
  for (let attempt = 1; attempt <= 100; attempt += 1) {
    const { delayMs } = backoffDelay(defaultRetryPolicy.backoff, attempt, () => 0);
    expect(delayMs).toBeGreaterThanOrEqual(1_000);
  }
});
