import {
  decideOutcome,
  defaultRetryPolicy,
  jobTransitions,
  maxReleaseCount,
} from '@holdfast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptFacts, AttemptOutcome, Decision, Transition } from '@holdfast/domain';

const error = { code: 'handler_failed', message: 'No', fingerprint: 'test:no' };
const facts: AttemptFacts = {
  attempt: 1,
  maxAttempts: 5,
  releaseCount: 0,
  exceptionCount: 0,
  ageMs: 60_000,
  createdAtMs: Date.UTC(2030, 0, 1),
  retry: { mode: 'automatic', backoff: { kind: 'fixed', delayMs: 7_000 } },
};
const last: AttemptFacts = { ...facts, attempt: 5 };
const single: AttemptFacts = { ...facts, maxAttempts: 1 };
const manual: AttemptFacts = { ...facts, retry: { ...facts.retry, mode: 'manual' } };
const released: AttemptFacts = { ...facts, releaseCount: maxReleaseCount };

const failed = { kind: 'failed', error, retryable: true } as const;
const hopeless = { kind: 'failed', error, retryable: false } as const;
const timedOut = { kind: 'timed_out', error } as const;
const release = { kind: 'released', delayMs: 4_000, reason: 'not yet' } as const;

const decide = (given: AttemptFacts, outcome: AttemptOutcome): Decision =>
  decideOutcome(given, outcome, () => 0.5);

describe('what becomes of a job after an attempt', () => {
  const table: readonly (readonly [
    what: string,
    facts: AttemptFacts,
    outcome: AttemptOutcome,
    expected: Decision,
  ])[] = [
    [
      'that succeeded',
      last,
      { kind: 'completed', resultJson: '{"a":1}' },
      { transition: 'complete_jobs', executionStatus: 'completed', resultJson: '{"a":1}' },
    ],
    [
      'that failed with attempts left',
      facts,
      failed,
      {
        transition: 'retry_jobs',
        executionStatus: 'failed',
        error,
        delayMs: 7_000,
        reason: 'fixed',
      },
    ],
    [
      'that timed out with attempts left',
      facts,
      timedOut,
      {
        transition: 'retry_jobs',
        executionStatus: 'timed_out',
        error,
        delayMs: 7_000,
        reason: 'fixed',
      },
    ],
    [
      'that failed and said when to try again',
      facts,
      { ...failed, retryAfterMs: 90_000 },
      {
        transition: 'retry_jobs',
        executionStatus: 'failed',
        error,
        delayMs: 90_000,
        reason: 'retry_after',
      },
    ],
    [
      'that said so in a way that is no delay',
      facts,
      { ...failed, retryAfterMs: -5 },
      {
        transition: 'retry_jobs',
        executionStatus: 'failed',
        error,
        delayMs: 86_400_000,
        reason: 'retry_after_clamped',
      },
    ],
    [
      'that failed for the last time',
      last,
      failed,
      {
        transition: 'dead_letter_jobs',
        executionStatus: 'failed',
        error,
        reason: 'attempts_exhausted',
      },
    ],
    [
      'that timed out as the only one allowed',
      single,
      timedOut,
      {
        transition: 'dead_letter_jobs',
        executionStatus: 'timed_out',
        error,
        reason: 'attempts_exhausted',
      },
    ],
    [
      'that cannot succeed',
      facts,
      hopeless,
      { transition: 'dead_letter_jobs', executionStatus: 'failed', error, reason: 'non_retryable' },
    ],
    [
      'that cannot succeed, under the manual policy',
      manual,
      hopeless,
      { transition: 'dead_letter_jobs', executionStatus: 'failed', error, reason: 'non_retryable' },
    ],
    [
      'that failed under the manual policy',
      manual,
      { ...failed, retryAfterMs: 1 },
      { transition: 'fail_jobs', executionStatus: 'failed', error, reason: 'manual_retry' },
    ],
    [
      'that failed for the last time under the manual policy',
      { ...last, retry: manual.retry },
      failed,
      { transition: 'fail_jobs', executionStatus: 'failed', error, reason: 'manual_retry' },
    ],
    [
      'that asked to run later',
      last,
      release,
      {
        transition: 'release_jobs',
        executionStatus: 'released',
        delayMs: 4_000,
        reason: 'not yet',
      },
    ],
    [
      'that was given back',
      last,
      { kind: 'returned', reason: 'drain' },
      { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
    ],
    [
      'that stopped after a cancel request',
      last,
      { kind: 'cancelled', error },
      { transition: 'abandon_jobs', executionStatus: 'cancelled', reason: 'cancelled', error },
    ],
  ];

  it.each(table)('%s', (_, given, outcome, expected) => {
    expect(decide(given, outcome)).toEqual(expected);
  });

  it('that asked to run later once too often has failed', () => {
    expect(decide(released, release)).toMatchObject({
      transition: 'retry_jobs',
      error: { code: 'release_limit_exceeded' },
    });
    expect(decide({ ...released, attempt: 5 }, release)).toMatchObject({
      transition: 'dead_letter_jobs',
      reason: 'attempts_exhausted',
    });
    const week = { ...release, delayMs: 7 * 86_400_000 };
    expect(decide(facts, week)).toMatchObject({ delayMs: 7 * 86_400_000 });
    const onceLess = { ...released, releaseCount: maxReleaseCount - 1 };
    expect(decide(onceLess, release).transition).toBe('release_jobs');
  });

  it('that asks 40 000 times to run later is tried no more often than another one', () => {
    const start = { ...facts, maxAttempts: 100, attempt: 0, releaseCount: 0 };
    let row: AttemptFacts = start;
    const ends = { release_jobs: 0, retry_jobs: 0, dead_letter_jobs: 0 };
    for (let ask = 0; ask < 40_000; ask += 1) {
      // What the claim and the transitions do to the row; a person replays the dead letter.
      const claimed = { ...row, attempt: row.attempt + 1 };
      const { transition } = decide(claimed, release);
      if (transition === 'release_jobs')
        row = { ...claimed, attempt: row.attempt, releaseCount: row.releaseCount + 1 };
      else if (transition === 'retry_jobs') row = claimed;
      else if (transition === 'dead_letter_jobs') row = start;
      else expect.fail(transition);
      ends[transition] += 1;
      expect(row.releaseCount).toBeLessThanOrEqual(maxReleaseCount);
      expect(row.maxAttempts).toBe(100);
    }
    expect(ends).toEqual({ release_jobs: 20_000, retry_jobs: 19_800, dead_letter_jobs: 200 });
  });
});

describe('every decision', () => {
  const anyOutcome: fc.Arbitrary<AttemptOutcome> = fc.oneof(
    fc.constant({ kind: 'completed', resultJson: undefined } as const),
    fc.record({
      kind: fc.constant('failed' as const),
      error: fc.constant(error),
      retryable: fc.boolean(),
      retryAfterMs: fc.option(fc.double(), { nil: undefined }),
    }),
    fc.constant(timedOut),
    fc.record({
      kind: fc.constant('released' as const),
      delayMs: fc.double(),
      reason: fc.option(fc.string(), { nil: undefined }),
    }),
    fc.constant({ kind: 'returned', reason: 'drain' } as const),
    fc.constant({ kind: 'cancelled', error } as const),
  );
  const anyFacts = fc.record({
    attempt: fc.integer({ min: 1, max: 1_000 }),
    maxAttempts: fc.integer({ min: 1, max: 1_000 }),
    releaseCount: fc.integer({ min: 0, max: 200 }),
    exceptionCount: fc.integer({ min: 0, max: 10 }),
    ageMs: fc.integer({ min: 0 }),
    createdAtMs: fc.integer({ min: 0 }),
    retry: fc.constantFrom(defaultRetryPolicy, manual.retry, facts.retry),
  });

  it('is an arrow from running, with a delay exactly when the job waits', () => {
    fc.assert(
      fc.property(anyFacts, anyOutcome, (given, outcome) => {
        const { transition, delayMs } = decide(given, outcome);
        const { from, to }: Transition = jobTransitions[transition];
        expect(from).toContain('running');
        expect(delayMs !== undefined).toBe(to === 'scheduled');
        if (delayMs !== undefined) expect(Number.isInteger(delayMs)).toBe(true);
      }),
    );
  });

  it('tries no job again that has used its attempts', () => {
    fc.assert(
      fc.property(anyFacts, anyOutcome, (given, outcome) => {
        fc.pre(given.attempt >= given.maxAttempts);
        expect(decide(given, outcome).transition).not.toBe('retry_jobs');
      }),
    );
  });
});

describe('limits of trying again', () => {
  const withRetry = (more: Partial<AttemptFacts['retry']>, given = facts): AttemptFacts => ({
    ...given,
    retry: { ...given.retry, ...more },
  });

  it.each([
    [
      'its last exception',
      { maxExceptions: 2 },
      { ...facts, exceptionCount: 1 },
      'exceptions_exhausted',
    ],
    ['an attempt too late for its age', { retryForMs: 66_999 }, facts, 'retry_deadline'],
    [
      'an attempt after its instant',
      { retryUntil: '2030-01-01T00:01:06.999Z' },
      facts,
      'retry_deadline',
    ],
  ] as const)('end a job before %s', (_what, more, given, reason) => {
    expect(decide(withRetry(more, given), failed)).toMatchObject({
      transition: 'dead_letter_jobs',
      executionStatus: 'failed',
      reason,
    });
  });

  it.each([
    ['an exception is left', { maxExceptions: 3 }, { ...facts, exceptionCount: 1 }],
    ['the age allows it', { retryForMs: 67_000 }, facts],
    ['the instant allows it', { retryUntil: '2030-01-01T00:01:07Z' }, facts],
  ] as const)('let a job go on while %s', (_what, more, given) => {
    expect(decide(withRetry(more, given), failed).transition).toBe('retry_jobs');
  });

  it('count no timeout as an exception', () => {
    expect(decide(withRetry({ maxExceptions: 1 }), timedOut).transition).toBe('retry_jobs');
  });
});
