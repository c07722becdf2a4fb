import { BackoffInput } from '@holdfast/contract';
import { backoffDelay, defaultBackoff, maxBackoffMs } from '@holdfast/domain';
import { expect, it } from 'vitest';
import type { BackoffPolicy } from '@holdfast/domain';

const waits = [
  ...[undefined, null, 0, -1, 30_000, Number.NaN, Infinity],
  ...['', '0s', '1ms', '5s', '-5s', '24h', '2d', 'NaN', 'Infinity', 'PT5M', {}, []],
];
const factors = [undefined, null, 0, 1, 2.5, 10, 10.1, -1, Number.NaN, Infinity, '2'];
const jitters = [undefined, null, 'full', 'none', 'some'];

const exponentials = (base: unknown, max: unknown): readonly unknown[] =>
  factors.flatMap((factor) =>
    jitters.map((jitter) => ({ kind: 'exponential', base, max, factor, jitter })),
  );

function* inputs(): Generator {
  yield* [...waits, { kind: 'fixed' }, { kind: 'list' }, { kind: 'exponential' }];
  for (const wait of waits) {
    yield* [
      { kind: wait },
      { kind: 'fixed', delay: wait },
      { kind: 'list', delays: wait },
      { kind: 'list', delays: [wait] },
      { kind: 'list', delays: ['1s', wait] },
    ];
    yield* waits.flatMap((max) => exponentials(wait, max));
  }
}

/** After several attempts, by several chances. */
const delaysOf = (policy: BackoffPolicy) =>
  [1, 2, 100].flatMap((attempt) =>
    [0, 0.5, 1 - Number.EPSILON].map((chance) => backoffDelay(policy, attempt, () => chance)),
  );

it('every backoff that is accepted gives a wait from zero to its longest', () => {
  let [acceptedCount, refusedCount] = [0, 0];
  for (const input of inputs()) {
    const { success, data: policy } = BackoffInput.safeParse(input);
    if (!success) {
      refusedCount += 1;
      continue;
    }
    acceptedCount += 1;
    const maxMs = policy.kind === 'exponential' ? policy.maxMs : maxBackoffMs;
    const wrong = delaysOf(policy).filter(
      ({ delayMs, clamped }) =>
        clamped || !Number.isInteger(delayMs) || delayMs < 0 || delayMs > maxMs,
    );
    if (wrong.length > 0) expect.fail(`${JSON.stringify(input)} gives ${JSON.stringify(wrong)}`);
  }
  expect(acceptedCount).toBeGreaterThan(400);
  expect(refusedCount).toBeGreaterThan(acceptedCount);
});

it('an exponential one that says nothing more is the default', () => {
  expect(BackoffInput.parse({ kind: 'exponential' })).toEqual(defaultBackoff);
});
