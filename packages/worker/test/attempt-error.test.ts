import { expect, it } from 'vitest';
import { toAttemptError } from '../src/attempt-error.ts';

const megabytes = 1_048_576;

it('keeps 16 000 characters of a stack of 50 MB, and 4 000 of such a message, and says so', () => {
  const stack = `Error: no\n${'    at deeper (file.js:1:1)\n'.repeat((50 * megabytes) / 28)}`;
  const thrown = Object.assign(new Error('m'.repeat(50 * megabytes)), { stack });
  const stored = toAttemptError(thrown, 'test.job');
  expect(stored.stack).toHaveLength(16_000);
  expect(stored.stack).toMatch(/^Error: no\n {4}at deeper.*… \[cut\]$/s);
  expect(stored.message).toHaveLength(4_000);
  expect(stored.message).toMatch(/^m+… \[cut\]$/);
  expect(JSON.stringify(stored).length).toBeLessThan(21_000);
});

it('keeps a stack that fits as it is', () => {
  const { stack } = toAttemptError(Object.assign(new Error('no'), { stack: 'short' }), 'test.job');
  expect(stack).toBe('short');
});
