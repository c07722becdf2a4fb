import {
  decideOutcome,
  defaultRetryPolicy,
  HoldfastError,
  readStoredRetry,
  UnknownJobTypeError,
} from '@holdfast/domain';
import type { AttemptFacts, AttemptOutcome, RetryPolicy } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import type { ClaimCapacity } from './claimer.ts';
import { abortForLostLease, abortGraceMs, runAttempt } from './executor.ts';
import type { AttemptEnd } from './executor.ts';
import type { Flusher } from './flusher.ts';
import type { JobHandler } from './handler.ts';
import { abortJob, isEndedByHandler, isSuspect } from './held-job.ts';
import type { HeldJob, OwnTransaction } from './held-job.ts';
import { HandlerContext } from './job-context.ts';
import type { ContextServices } from './job-context.ts';
import { monotonicMs } from './monotonic.ts';
import type { PrefetchTarget } from './prefetch-target.ts';
import type { Slots } from './slots.ts';
import type { BackoffFunction } from './worker-options.ts';

/** What the runner works with. */
export interface JobRunnerOptions {
  readonly services: ContextServices;
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly backoffs: Readonly<Record<string, BackoffFunction>> | undefined;
  readonly fragileTypes: readonly string[];
  readonly slots: Slots;
  readonly prefetch: PrefetchTarget;
  readonly flusher: Flusher;
  readonly logger: Logger;
  /** Room became free; `suspect` when it is the quarantine slot. */
  readonly onRoom: (slot: 'ordinary' | 'suspect') => void;
  /** The job left the worker without an end to write. */
  readonly onDropped: (job: HeldJob) => void;
  /** Half of the slots hold handlers that ignore their abort. */
  readonly onStuck: () => void;
}

/** Ends that wait for the database; beyond this nothing new is started. */
const maxPendingFinishes = 1_000;

/** Puts held jobs into slots, runs their handlers there, and hands their ends to the flusher. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #slots: Slots;
  readonly #flusher: Flusher;
  #stopping = false;
  /** Slots whose handlers were given the grace and run on. */
  #overdue = 0;
  #onIdle: (() => void) | undefined;
  /** Attempts that are over while it is not known whether their own transaction was committed. */
  readonly #undecided = new Set<Promise<void>>();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#slots = options.slots;
    this.#flusher = options.flusher;
  }

  /** How much may be claimed now. */
  capacity(): ClaimCapacity {
    if (this.#flusher.pendingFinishes > maxPendingFinishes) return noRoom;
    const { free, buffered } = this.#slots;
    const prefetch = this.#options.prefetch.current();
    const room = Math.max(0, free + prefetch - buffered);
    // A buffer waits until three quarters are gone: one large claim costs less than many small ones.
    const isWorthwhile = buffered <= Math.floor(prefetch / 4);
    return {
      slots: Math.max(0, free - buffered),
      total: isWorthwhile ? room : 0,
      suspects: this.#slots.quarantineFree ? 1 : 0,
    };
  }

  /** Takes over claimed jobs. */
  add(jobs: readonly HeldJob[]): void {
    for (const job of jobs) this.#slots.add(job);
    if (this.#stopping) this.returnBuffered();
    else this.fillSlots();
  }

  /** Starts what has a slot, unless too many ends wait for the database. */
  fillSlots(): void {
    if (this.#stopping) return;
    while (this.#flusher.pendingFinishes <= maxPendingFinishes) {
      const job = this.#slots.takeNext();
      if (job === undefined) return;
      if (isSuspect(job)) void this.#runSuspect(job);
      else this.#run(job);
    }
  }

  /** Gives back what has not started. */
  returnBuffered(): void {
    for (const job of this.#slots.takeBuffered()) {
      this.#finish(job, { kind: 'returned', reason: 'drain' });
    }
  }

  /** The lease is gone or was not confirmed in time. */
  lose(job: HeldJob): void {
    if (this.#slots.remove(job)) this.#options.onDropped(job);
    else if (!isEndedByHandler(job)) abortForLostLease(job);
  }

  /** A person wants the job to end. */
  cancel(job: HeldJob): void {
    if (this.#slots.remove(job)) {
      this.#finish(job, { kind: 'cancelled', error: cancelledBeforeStart });
      return;
    }
    abortJob(job, 'cancel', new HoldfastError('The job was cancelled', { code: 'cancelled' }));
  }

  /**
   * Gives back what has not started, waits for what runs, aborts the rest, and gives back what ignores its abort; its
   * late result will find the lease gone.
   */
  async stop(timing: { readonly drainMs: number; readonly graceMs: number }): Promise<void> {
    this.#stopping = true;
    this.returnBuffered();
    await this.#whenIdle(timing.drainMs);
    const reason = new HoldfastError('The worker is shutting down', { code: 'shutdown' });
    for (const job of this.#slots.running) abortJob(job, 'shutdown', reason);
    await this.#whenIdle(timing.graceMs);
    for (const job of this.#slots.running) job.settle?.({ kind: 'returned', reason: 'drain' });
    await this.#whenIdle(timing.graceMs);
    await Promise.all(this.#undecided);
  }

  async #whenIdle(timeoutMs: number): Promise<void> {
    if (this.#slots.running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#onIdle = undefined;
  }

  async #runSuspect(job: HeldJob): Promise<void> {
    if (this.#options.fragileTypes.includes(job.claimed.type)) {
      this.#freeSlot(job, 'ended');
      this.#finish(job, { kind: 'failed', error: workerLost, retryable: false });
      return;
    }
    if (await this.#startSuspect(job)) {
      this.#run(job);
      return;
    }
    this.#freeSlot(job, 'ended');
    this.#options.onDropped(job);
  }

  /** A suspect's start must be on record before its handler can take the process down. */
  async #startSuspect(job: HeldJob): Promise<boolean> {
    try {
      return await this.#flusher.startNow(job);
    } catch (error) {
      this.#options.logger.warn({ err: error, jobId: job.claimed.id }, 'start of a suspect failed');
      return false;
    }
  }

  #run(job: HeldJob): void {
    job.startedAtMs = monotonicMs();
    this.#flusher.started(job);
    const { services, handlers } = this.#options;
    const handler = handlers[job.claimed.type] ?? refusalOf(job.claimed.type);
    const context = new HandlerContext(job, services);
    runAttempt(job, { handler, context, onEnd: this.#onEnded });
  }

  readonly #onEnded = (job: HeldJob, end: AttemptEnd): void => {
    this.#options.prefetch.countEnd();
    this.#freeSlot(job, end.stuck === undefined ? 'ended' : 'stuck');
    if (end.stuck !== undefined) this.#watchStuck(end.stuck, end.isSudden ? abortGraceMs : 0);
    if (job.transaction === undefined || job.transaction.state === 'open') {
      this.#finish(job, end.outcome);
    } else {
      this.#finishUndecided(job, job.transaction, end.outcome);
    }
  };

  /** The end may have been written by the handler's own transaction; then it is not written again. */
  #finishUndecided(job: HeldJob, own: OwnTransaction, outcome: AttemptOutcome): void {
    const decided = own.settled.then(() => {
      this.#undecided.delete(decided);
      if (own.state !== 'committed') {
        this.#finish(job, outcome);
        return;
      }
      const isSame =
        outcome.kind === 'completed' &&
        (outcome.resultJson === undefined || outcome.resultJson === own.resultJson);
      if (isSame) return;
      this.#options.logger.warn(
        { jobId: job.claimed.id, outcome: outcome.kind },
        'what a handler did after its transaction was committed changes nothing',
      );
    });
    this.#undecided.add(decided);
  }

  #freeSlot(job: HeldJob, handler: 'ended' | 'stuck'): void {
    this.#slots.end(job, handler);
    if (this.#slots.running.size === 0) this.#onIdle?.();
    if (this.#stopping) return;
    this.fillSlots();
    this.#options.onRoom(isSuspect(job) ? 'suspect' : 'ordinary');
  }

  /** The handler keeps its slot; when half of them are kept for longer than the grace, the worker cannot go on. */
  #watchStuck(ended: Promise<void>, graceMs: number): void {
    let isOverdue = false;
    const report = (): void => {
      isOverdue = true;
      this.#overdue += 1;
      this.#reportStuck();
    };
    const timer = graceMs === 0 ? undefined : setTimeout(report, graceMs);
    // The process may end before.
    timer?.unref();
    void ended.then(() => {
      clearTimeout(timer);
      if (isOverdue) this.#overdue -= 1;
      this.#slots.unstick();
      this.fillSlots();
      this.#options.onRoom('ordinary');
    });
    if (timer === undefined) report();
  }

  #reportStuck(): void {
    if (this.#overdue * 2 < this.#slots.concurrency) return;
    this.#options.logger.error({ stuckSlots: this.#slots.stuck }, 'half of the slots are stuck');
    this.#options.onStuck();
  }

  #finish(job: HeldJob, outcome: AttemptOutcome): void {
    this.#flusher.finish({
      job,
      decision: decideOutcome(this.#factsOf(job, outcome), outcome, Math.random),
    });
  }

  #factsOf(job: HeldJob, outcome: AttemptOutcome): AttemptFacts {
    const { claimed, claimedAtMs } = job;
    return {
      attempt: claimed.attempt,
      maxAttempts: claimed.maxAttempts,
      releaseCount: claimed.releaseCount,
      exceptionCount: claimed.exceptionCount,
      ageMs: claimed.ageMs + monotonicMs() - claimedAtMs,
      createdAtMs: claimed.createdAtMs,
      // A policy costs more to read than a job to complete.
      retry: outcome.kind === 'completed' ? defaultRetryPolicy : retryPolicyOf(claimed.retryJson),
      ownDelayMs: this.#ownDelayMs(job, outcome),
    };
  }

  /** What the type's own function says of the wait, if it has one. */
  #ownDelayMs({ claimed }: HeldJob, outcome: AttemptOutcome): number | undefined {
    const backoff = this.#options.backoffs?.[claimed.type];
    if (backoff === undefined || !('error' in outcome)) return undefined;
    try {
      return backoff({ attempt: claimed.attempt, error: outcome.error });
    } catch (error) {
      this.#options.logger.error({ err: error, type: claimed.type }, 'backoff function failed');
      return undefined;
    }
  }
}

const noRoom: ClaimCapacity = { slots: 0, total: 0, suspects: 0 };

const workerLost = {
  code: 'worker_lost',
  message: 'A worker died with the job, and its type forbids another run',
  fingerprint: 'worker_lost',
} as const;

const cancelledBeforeStart = {
  code: 'cancelled',
  message: 'Cancelled before its handler started',
  fingerprint: 'cancelled',
} as const;

function retryPolicyOf(retryJson: string | null): RetryPolicy {
  return retryJson === null ? defaultRetryPolicy : readStoredRetry(JSON.parse(retryJson));
}

/** A worker claims only its own types; should it be given another one all the same, the attempt fails. */
function refusalOf(type: string): JobHandler {
  return () => {
    throw new UnknownJobTypeError(type);
  };
}
