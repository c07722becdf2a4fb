import { NonRetryableError, RetryableError } from '@holdfast/domain';
import { describe, expect, it } from 'vitest';
import { outcomeOfError } from '../src/executor.ts';
import { abortJob } from '../src/held-job.ts';
import type { AbortCause } from '../src/held-job.ts';
import { makeHeldJob } from './support/make-held-job.ts';

describe('outcomeOfError', () => {
  it.each([
    ['its own class', new NonRetryableError('no')],
    ['a class of the same name', Object.assign(new Error('no'), { name: 'NonRetryableError' })],
  ])('forbids a retry by %s', (_, thrown) => {
    expect(outcomeOfError(makeHeldJob(), thrown)).toMatchObject({
      kind: 'failed',
      retryable: false,
    });
  });

  it.each([
    ['its own class', new RetryableError('later', { retryAfterMs: 1_500 })],
    ['a class of the same name', { name: 'RetryableError', message: 'later', retryAfterMs: 1_500 }],
  ])('takes the wait from %s', (_, thrown) => {
    expect(outcomeOfError(makeHeldJob(), thrown)).toMatchObject({
      kind: 'failed',
      retryable: true,
      retryAfterMs: 1_500,
    });
  });

  it('ignores a wait that is no number', () => {
    const thrown = { name: 'RetryableError', message: 'later', retryAfterMs: 'soon' };
    expect(outcomeOfError(makeHeldJob(), thrown)).toMatchObject({ retryAfterMs: undefined });
  });

  it.each([
    ['timeout', 'timed_out'],
    ['cancel', 'cancelled'],
    ['shutdown', 'returned'],
    ['lease_lost', 'returned'],
  ] as const satisfies readonly (readonly [AbortCause, string])[])(
    'after an abort for %s the attempt is %s',
    (cause, kind) => {
      const job = makeHeldJob();
      abortJob(job, cause, new Error(cause));
      expect(outcomeOfError(job, new Error('whatever')).kind).toBe(kind);
    },
  );

  it('keeps the first reason of an abort', () => {
    const job = makeHeldJob();
    abortJob(job, 'cancel', new Error('cancel'));
    abortJob(job, 'shutdown', new Error('shutdown'));
    expect(outcomeOfError(job, new Error('whatever')).kind).toBe('cancelled');
  });
});
