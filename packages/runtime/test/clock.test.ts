import { systemClock } from '@holdfast/runtime';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});

describe('the system clock', () => {
  it('sleeps thirty days in naps of at most a minute', async () => {
    vi.useFakeTimers();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const thirtyDaysMs = 30 * 86_400_000;
    let isAwake = false;
    const slept = systemClock.sleep(thirtyDaysMs).then(() => {
      isAwake = true;
    });
    await vi.advanceTimersByTimeAsync(thirtyDaysMs - 1);
    expect(isAwake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await slept;
    const longestMs = Math.max(...timers.mock.calls.map(([, delayMs]) => delayMs ?? 0));
    expect(longestMs).toBe(60_000);
    timers.mockRestore();
  });

  it('wakes at once when the signal aborts, before or during the sleep', async () => {
    await systemClock.sleep(3_600_000, AbortSignal.abort());
    const controller = new AbortController();
    const slept = systemClock.sleep(3_600_000, controller.signal);
    controller.abort();
    await slept;
  });

  it.each([0, -5, NaN])('yields without a wait for %s', async (durationMs) => {
    await systemClock.sleep(durationMs);
  });
});
