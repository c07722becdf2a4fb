import { readStoredJobSettings } from '@holdfast/domain';
import { expect, it } from 'vitest';

it('keeps what a job could have', () => {
  const settings = {
    priority: 0,
    maxAttempts: 3,
    timeoutMs: 1_000,
    retry: { mode: 'manual', backoff: { kind: 'fixed', delayMs: 5 } },
    tags: ['a'],
    metadata: { by: 'ada' },
    delayMs: 0.5,
    payloadVersion: 2,
  };
  expect(readStoredJobSettings({ type: 'a', payload: 1, ...settings })).toEqual(settings);
});

it.each([undefined, null, 'text', 7, [], {}])('finds nothing in %j', (stored) => {
  expect(readStoredJobSettings(stored)).toEqual({});
});

it.each([
  { priority: 10, maxAttempts: 0, timeoutMs: 0, tags: 'a', metadata: 'b', delayMs: -1 },
  { payloadVersion: 0 },
  { payloadVersion: 32_768 },
  { payloadVersion: '2' },
  { priority: '5', maxAttempts: 'five', timeoutMs: '5m', tags: [1], metadata: [], delayMs: '1s' },
  { priority: 0.5, maxAttempts: 1e9, timeoutMs: 1e9, tags: [''], metadata: 7, delayMs: 1e300 },
  { priority: null, maxAttempts: null, timeoutMs: null, tags: {}, metadata: null, retry: null },
])('leaves out what no job could have, as in %j', (stored) => {
  expect(readStoredJobSettings(stored)).toEqual({});
});
