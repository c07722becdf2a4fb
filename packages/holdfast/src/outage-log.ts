import { systemClock } from '@holdfast/runtime';
import type { HoldfastLogger } from './logger.ts';

const firstIntervalMs = 1_000;

/** Tells of an outage that somebody sits out: at once, then at doubling intervals, and when it is over. */
export class OutageLog {
  readonly #logger: HoldfastLogger;
  readonly #nowMs: () => number;
  #outage: { readonly beganMs: number; nextMs: number; intervalMs: number } | undefined;

  /** @param nowMs a clock that only goes forward */
  constructor(logger: HoldfastLogger, nowMs: () => number = () => systemClock.monotonicMs()) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** A call has failed, and is tried again. */
  failed(error: unknown): void {
    const nowMs = this.#nowMs();
    this.#outage ??= { beganMs: nowMs, nextMs: nowMs, intervalMs: firstIntervalMs };
    const outage = this.#outage;
    if (nowMs < outage.nextMs) return;
    outage.nextMs = nowMs + outage.intervalMs;
    outage.intervalMs *= 2;
    const fields = { err: error, outageMs: Math.round(nowMs - outage.beganMs) };
    this.#logger.warn(fields, 'the database does not answer, waiting for it');
  }

  /** A call has not failed. */
  answered(): void {
    if (this.#outage === undefined) return;
    const outageMs = Math.round(this.#nowMs() - this.#outage.beganMs);
    this.#outage = undefined;
    this.#logger.info({ outageMs }, 'the database answers again');
  }
}
