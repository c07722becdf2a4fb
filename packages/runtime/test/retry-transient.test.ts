import { fullJitterMs, retryTransient } from '@holdfast/runtime';
import { describe, expect, it } from 'vitest';
import type { Clock } from '@holdfast/runtime';

function recordingClock(waits: number[]): Clock {
  return {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: (durationMs) => {
      waits.push(durationMs);
      return Promise.resolve();
    },
  };
}

function failingTimes(count: number): () => Promise<string> {
  let calls = 0;
  return () => {
    calls += 1;
    return calls <= count
      ? Promise.reject(new Error(`try ${String(calls)}`))
      : Promise.resolve('ok');
  };
}

describe('retryTransient', () => {
  it('waits longer from try to try, up to the cap', async () => {
    const waits: number[] = [];
    const answer = await retryTransient(failingTimes(5), {
      isTransient: () => true,
      baseMs: 100,
      capMs: 500,
      clock: recordingClock(waits),
      random: () => 0.999_999,
    });
    expect(answer).toBe('ok');
    expect(waits).toEqual([100, 200, 400, 500, 500]);
  });

  it('throws an error that is not transient at once', async () => {
    const waits: number[] = [];
    const attempt = retryTransient(failingTimes(1), {
      isTransient: () => false,
      clock: recordingClock(waits),
    });
    await expect(attempt).rejects.toThrow('try 1');
    expect(waits).toEqual([]);
  });

  it('throws the last error when the tries are used up or the signal aborted', async () => {
    const clock = recordingClock([]);
    const always = { isTransient: () => true, clock };
    await expect(retryTransient(failingTimes(9), { ...always, maxAttempts: 3 })).rejects.toThrow(
      'try 3',
    );
    await expect(
      retryTransient(failingTimes(9), { ...always, signal: AbortSignal.abort() }),
    ).rejects.toThrow('try 1');
  });

  it('spreads waits from nothing to the ceiling and stays finite after many failures', () => {
    const policy = { baseMs: 100, capMs: 10_000 };
    expect(fullJitterMs(3, policy, () => 0)).toBe(0);
    expect(fullJitterMs(100_000, policy, () => 0.5)).toBe(5_000);
  });
});
