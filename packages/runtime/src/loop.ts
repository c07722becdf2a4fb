import { systemClock } from './clock.ts';
import { fullJitterMs } from './full-jitter.ts';
import type { Clock } from './clock.ts';
import type { JitterPolicy } from './full-jitter.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Service } from './service.ts';

/** What one round of a loop answers. */
export interface RoundResult {
  /** When the next round is due, from now; zero for at once, `undefined` when nothing is in sight. */
  readonly nextInMs: number | undefined;
}

/** How a loop is made. */
export interface LoopOptions {
  /** Short name for logs and metrics, such as `promoter`. */
  readonly name: string;
  /** One round of work; the signal aborts when the loop is asked to stop. */
  readonly run: (signal: AbortSignal) => Promise<RoundResult>;
  /** The longest sleep between two rounds, whatever a round answers. */
  readonly maxIntervalMs: number;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Waits after failed rounds; default 250 ms growing to 5 s (or the interval, if shorter). */
  readonly backoff?: JitterPolicy;
}

/** How a loop is doing, for health checks. */
export interface LoopHealth {
  readonly name: string;
  /** Wall-clock time of the last round that succeeded. */
  readonly lastSuccessAtMs: number | undefined;
  /** Rounds that failed since the last success. */
  readonly failureCount: number;
  /** True when no round, good or bad, ended for three intervals, and 30 s at least: the loop hangs. */
  readonly isStuck: boolean;
}

/** A supervised loop: a failed round is logged and tried again, and never ends the loop. */
export interface Loop extends Service {
  start(): void;
  /** Cuts the sleep short; during a round, asks for another one right after it. Ignored while backing off. */
  wake(): void;
  health(): LoopHealth;
}

/** A statement may take ten seconds and a round has several, however short the interval is. */
const leastStuckMs = 30_000;

/** Creates a loop that sleeps until its next round is due. */
export function createLoop(options: LoopOptions): Loop {
  return new SupervisedLoop(options);
}

class SupervisedLoop implements Loop {
  readonly name: string;
  readonly #options: LoopOptions;
  readonly #clock: Clock;
  readonly #backoff: JitterPolicy;
  readonly #meters: LoopMeters;
  #stopping: AbortController | undefined;
  #ended: Promise<void> = Promise.resolve();
  #cutSleep: AbortController | undefined;
  #wokenDuringRound = false;
  #failureCount = 0;
  #lastSuccessAtMs: number | undefined;
  #lastTickMs = 0;

  constructor(options: LoopOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#backoff = options.backoff ?? {
      baseMs: 250,
      capMs: Math.min(5_000, options.maxIntervalMs),
    };
    this.#meters = metersOf(options);
  }

  start(): void {
    if (this.#stopping !== undefined) return;
    const stopping = new AbortController();
    this.#stopping = stopping;
    this.#lastTickMs = this.#clock.monotonicMs();
    this.#ended = this.#repeat(stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#cutSleep?.abort();
    await this.#ended;
    this.#stopping = undefined;
  }

  wake(): void {
    this.#wokenDuringRound = true;
    this.#cutSleep?.abort();
  }

  health(): LoopHealth {
    const silentMs = this.#clock.monotonicMs() - this.#lastTickMs;
    const stuckAfterMs = Math.max(3 * this.#options.maxIntervalMs, leastStuckMs);
    return {
      name: this.name,
      lastSuccessAtMs: this.#lastSuccessAtMs,
      failureCount: this.#failureCount,
      isStuck: this.#stopping !== undefined && silentMs > stuckAfterMs,
    };
  }

  async #repeat(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      this.#wokenDuringRound = false;
      const result = await this.#round(stopped);
      this.#lastTickMs = this.#clock.monotonicMs();
      await this.#rest(result, stopped);
    }
  }

  async #rest(result: RoundResult | undefined, stopped: AbortSignal): Promise<void> {
    if (stopped.aborted) return;
    if (result === undefined) await this.#clock.sleep(this.#nextBackoffMs(), stopped);
    else await this.#sleepUntilDue(result);
  }

  async #round(stopped: AbortSignal): Promise<RoundResult | undefined> {
    const startedMs = this.#clock.monotonicMs();
    try {
      const result = await this.#options.run(stopped);
      this.#failureCount = 0;
      this.#lastSuccessAtMs = this.#clock.nowMs();
      this.#meters.succeeded(this.#lastSuccessAtMs / 1_000);
      return result;
    } catch (error) {
      this.#reportFailure(error, stopped);
      return undefined;
    } finally {
      this.#meters.took((this.#clock.monotonicMs() - startedMs) / 1_000);
    }
  }

  #reportFailure(error: unknown, stopped: AbortSignal): void {
    // A round cut short by stop() may fail in any way; that is not news.
    if (stopped.aborted) return;
    this.#failureCount += 1;
    this.#meters.failed();
    this.#options.logger.error(
      { err: error, loop: this.name, failureCount: this.#failureCount },
      'loop round failed',
    );
  }

  #nextBackoffMs(): number {
    return fullJitterMs(this.#failureCount, this.#backoff, this.#options.random ?? Math.random);
  }

  async #sleepUntilDue({ nextInMs }: RoundResult): Promise<void> {
    if (this.#wokenDuringRound) {
      // Yields, so that a loop which is woken all the time cannot starve the others.
      await this.#clock.sleep(0);
      return;
    }
    const { maxIntervalMs } = this.#options;
    const wantedMs = nextInMs === undefined || Number.isNaN(nextInMs) ? maxIntervalMs : nextInMs;
    const cut = new AbortController();
    this.#cutSleep = cut;
    await this.#clock.sleep(Math.min(Math.max(wantedMs, 0), maxIntervalMs), cut.signal);
    this.#cutSleep = undefined;
  }
}

interface LoopMeters {
  succeeded(atSeconds: number): void;
  failed(): void;
  took(seconds: number): void;
}

function metersOf({ name, metrics }: LoopOptions): LoopMeters {
  const labels = { loop: name };
  const labelNames = ['loop'] as const;
  const lastSuccess = metrics?.gauge({
    name: 'loop_last_success_timestamp_seconds',
    help: 'When the loop last ended a round without an error',
    labelNames,
  });
  const failures = metrics?.counter({
    name: 'loop_failures_total',
    help: 'Rounds of the loop that ended in an error',
    labelNames,
  });
  const duration = metrics?.histogram({
    name: 'loop_round_duration_seconds',
    help: 'How long a round of the loop took',
    labelNames,
  });
  return {
    succeeded: (atSeconds) => lastSuccess?.set(labels, atSeconds),
    failed: () => failures?.inc(labels),
    took: (seconds) => duration?.observe(labels, seconds),
  };
}
