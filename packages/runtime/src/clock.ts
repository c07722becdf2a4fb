/** The door through which time comes in, so that tests can hold it still. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch; may jump. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start; never goes backward. Use it for durations. */
  monotonicMs(): number;
  /**
   * Resolves after `durationMs`, or at once when `signal` aborts; never rejects.
   * Zero and negative durations still yield to the event loop.
   */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

// Timers beyond 2^31-1 ms fire at once, and a suspended machine stops them; short naps survive both.
const longestNapMs = 60_000;

/** The real time of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: sleepInNaps,
};

async function sleepInNaps(durationMs: number, signal?: AbortSignal): Promise<void> {
  const wakeAtMs = performance.now() + durationMs;
  let leftMs = durationMs;
  do {
    await nap(Math.min(Math.max(leftMs, 0), longestNapMs), signal);
    leftMs = wakeAtMs - performance.now();
  } while (leftMs > 0 && signal?.aborted !== true);
}

function nap(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, durationMs);
    signal?.addEventListener('abort', wake, { once: true });
  });
}
