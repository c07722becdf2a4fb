import { monotonicMs } from './monotonic.ts';

/** The buffer holds about this much work: enough to bridge a claim's round trip and its commit. */
const bridgeMs = 60;
const windowMs = 100;

/**
 * How many jobs to hold beyond the slots, from how fast jobs have been ending. Slow jobs are hardly prefetched, so that
 * they stay claimable for others; jobs of a millisecond are claimed by the hundred.
 */
export class PrefetchTarget {
  readonly #max: number;
  #windowStartMs = monotonicMs();
  #ended = 0;
  #perMs = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** A handler ended. */
  countEnd(): void {
    this.#ended += 1;
  }

  /** The number of jobs to hold beyond the slots now. */
  current(): number {
    const elapsedMs = monotonicMs() - this.#windowStartMs;
    const nowPerMs = this.#ended / Math.max(elapsedMs, 1);
    if (elapsedMs >= windowMs) {
      this.#perMs = nowPerMs;
      this.#ended = 0;
      this.#windowStartMs += elapsedMs;
    }
    return Math.min(this.#max, Math.floor(Math.max(this.#perMs, nowPerMs) * bridgeMs));
  }
}
