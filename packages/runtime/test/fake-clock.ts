import type { Clock } from '@holdfast/runtime';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly durationMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  #sleepers: Sleeper[] = [];
  #waiters: (() => void)[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true || durationMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = { wakeAtMs: this.#nowMs + durationMs, durationMs, wake: resolve };
      this.#sleepers.push(sleeper);
      const leave = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiters.splice(0).forEach((tell) => {
        tell();
      });
    });
  }

  /** The durations that callers sleep for right now. */
  get sleeping(): readonly number[] {
    return this.#sleepers.map((sleeper) => sleeper.durationMs);
  }

  /** Resolves with the duration of the next sleep that begins, or of one already under way. */
  async whenAsleep(): Promise<number> {
    while (this.#sleepers.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
    return this.#sleepers[0]?.durationMs ?? 0;
  }

  /** Lets time pass and wakes whoever is due. */
  advance(durationMs: number): void {
    this.#nowMs += durationMs;
    const due = this.#sleepers.filter((sleeper) => sleeper.wakeAtMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => !due.includes(sleeper));
    due.forEach((sleeper) => {
      sleeper.wake();
    });
  }
}
