import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createNotifier,
  markWorkerStopped,
  openListener,
  registerWorker,
} from '@holdfast/database';
import type {
  ClaimedJob,
  Lane,
  Listener,
  Notifier,
  WorkerIdentity,
  WorkerMode,
} from '@holdfast/database';
import { decideOutcome, defaultRetryPolicy, HoldfastError } from '@holdfast/domain';
import type { AttemptOutcome, Decision, RetryPolicy } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import type { Service } from '@holdfast/runtime';
import { Claimer } from './claimer.ts';
import type { ClaimCapacity } from './claimer.ts';
import { abortForLostLease, runAttempt } from './executor.ts';
import type { AttemptEnd } from './executor.ts';
import { Flusher } from './flusher.ts';
import type { PendingFinish } from './finish-writer.ts';
import { Heartbeater } from './heartbeater.ts';
import { abortJob, holdJob, isSuspect } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import { HandlerContext } from './job-context.ts';
import { monotonicMs } from './monotonic.ts';
import { PrefetchTarget } from './prefetch-target.ts';
import { guardProcess } from './process-guards.ts';
import type { RemoveGuards } from './process-guards.ts';
import { Slots } from './slots.ts';
import { StatsCollector } from './stats-collector.ts';
import { workerSettings } from './worker-options.ts';
import type { WorkerOptions, WorkerSettings } from './worker-options.ts';

/** Handlers get this long between the abort at the end of a drain and the return of their jobs. */
const shutdownGraceMs = 1_000;
/** Ends that wait for the database; beyond this the worker starts nothing new. */
const maxPendingFinishes = 2_000;

/**
 * A worker: claims jobs, runs their handlers, keeps their leases, writes their ends.
 *
 * Modes: `active` claims and runs; `quiet` finishes what it holds and claims no more; `stopping` gives back what has not
 * started, waits for what runs, aborts and gives back the rest, and is done.
 */
export class WorkerEngine implements Service {
  readonly name = 'worker';
  /** A UUID of this start of the worker. */
  readonly id = randomUUID();
  readonly #options: WorkerOptions;
  readonly #settings: WorkerSettings;
  readonly #slots: Slots;
  readonly #prefetch: PrefetchTarget;
  readonly #claims: Lane;
  readonly #writes: Lane;
  readonly #moreWrites: Lane;
  readonly #flusher: Flusher;
  readonly #claimer: Claimer;
  readonly #heartbeater: Heartbeater;
  readonly #stats: StatsCollector;
  readonly #notifier: Notifier;
  readonly #identity: WorkerIdentity;
  #listener: Listener | undefined;
  #removeGuards: RemoveGuards | undefined;
  #mode: WorkerMode = 'active';
  #stopping: Promise<void> | undefined;
  #started = false;
  #onIdle: (() => void) | undefined;

  /** @throws ConfigError that lists every bad setting. */
  constructor(options: WorkerOptions) {
    const { database, projectId, logger } = options;
    this.#options = options;
    this.#settings = workerSettings(options);
    this.#slots = new Slots(this.#settings.concurrency);
    this.#prefetch = new PrefetchTarget(this.#settings.maxPrefetch);
    this.#claims = database.openLane('claims');
    this.#writes = database.openLane('lane');
    this.#moreWrites = database.openLane('lane');
    this.#notifier = createNotifier(database);
    const shared = { projectId, logger, lane: this.#writes, workerId: this.id };
    this.#identity = this.#identify();
    this.#stats = new StatsCollector(shared);
    this.#flusher = new Flusher({
      ...shared,
      lanes: [this.#writes, this.#moreWrites],
      clock: options.clock ?? systemClock,
      listener: { onFinished: this.#onStored, onLate: this.#onLate },
    });
    this.#claimer = new Claimer({
      ...shared,
      lane: this.#claims,
      queueNames: options.queues,
      types: this.#identity.types,
      leaseMs: this.#settings.leaseMs,
      pollIntervalMs: this.#settings.pollIntervalMs,
      capacity: this.#capacity,
      onClaimed: this.#onClaimed,
    });
    this.#heartbeater = new Heartbeater({
      settings: database.settings,
      identity: this.#identity,
      heartbeatMs: this.#settings.heartbeatMs,
      logger,
      vitals: () => ({
        status: this.#mode,
        busySlots: this.#slots.busy,
        stuckSlots: this.#slots.stuck,
      }),
      listener: {
        onLost: this.#onLost,
        onUnconfirmed: this.#onLost,
        onCancelRequested: this.#onCancelRequested,
        onRequested: this.#onRequested,
      },
    });
  }

  /** What the worker does now. */
  get mode(): WorkerMode {
    return this.#mode;
  }

  /** Registers the worker and begins to claim. */
  async start(): Promise<void> {
    await registerWorker(this.#writes, this.#identity);
    this.#started = true;
    const { database, logger, onFatal } = this.#options;
    if (this.#options.guards !== false) {
      this.#removeGuards = guardProcess({
        logger,
        onFatal: (error) => {
          logger.fatal({ err: error }, 'uncaught exception');
          onFatal?.('uncaught_exception');
        },
      });
    }
    this.#heartbeater.start();
    this.#stats.start();
    this.#claimer.resume();
    if (this.#options.notifications === false) return;
    this.#listener = openListener(database, {
      onQueue: (id) => {
        this.#claimer.wakeQueue(id);
      },
      onWorker: (id) => {
        if (id === this.id) this.#heartbeater.beatNow();
      },
      onConnected: () => {
        this.#claimer.wake();
      },
    });
  }

  /** Drains; safe to call twice. Resolves when every job that was held is written or given back. */
  stop(): Promise<void> {
    this.#stopping ??= this.#started ? this.#drain() : this.#close();
    return this.#stopping;
  }

  #identify(): WorkerIdentity {
    const { projectId, handlers, queues, labels = {}, build = 'unknown' } = this.#options;
    return {
      projectId,
      id: this.id,
      host: hostname(),
      pid: process.pid,
      build,
      labels,
      queues: queues ?? ['*'],
      types: Object.keys(handlers),
      slots: this.#settings.concurrency,
      leaseMs: this.#settings.leaseMs,
    };
  }

  readonly #capacity = (): ClaimCapacity => {
    const { free, buffered } = this.#slots;
    const suspects = this.#slots.quarantineFree ? 1 : 0;
    if (this.#flusher.pendingFinishes > maxPendingFinishes)
      return { slots: 0, total: 0, suspects: 0 };
    const prefetch = this.#prefetch.current();
    const room = Math.max(0, free + prefetch - buffered);
    // Half-full buffers wait: one large claim costs less than many small ones.
    const worthwhile = buffered <= Math.floor(prefetch / 2);
    return { slots: Math.max(0, free - buffered), total: worthwhile ? room : 0, suspects };
  };

  readonly #onClaimed = (
    claims: readonly { readonly job: ClaimedJob; readonly queueName: string }[],
    sentAtMs: number,
  ): void => {
    const jobs = claims.map(({ job, queueName }) => holdJob(job, queueName, sentAtMs));
    const token = jobs[0]?.claimed.leaseToken;
    if (token === undefined) return;
    this.#heartbeater.hold(token, jobs);
    for (const job of jobs) this.#slots.add(job);
    if (this.#mode === 'stopping') this.#returnBuffered();
    else this.#fillSlots();
  };

  #fillSlots(): void {
    while (this.#flusher.pendingFinishes <= maxPendingFinishes) {
      const job = this.#slots.takeNext();
      if (job === undefined) return;
      if (isSuspect(job)) void this.#runSuspect(job);
      else this.#run(job);
    }
  }

  async #runSuspect(job: HeldJob): Promise<void> {
    if (await this.#startSuspect(job)) {
      this.#run(job);
      return;
    }
    this.#release(job, 'ended');
    this.#heartbeater.drop([job]);
  }

  #run(job: HeldJob): void {
    job.startedAtMs = monotonicMs();
    this.#flusher.started(job);
    const { projectId, handlers } = this.#options;
    const handler = handlers[job.claimed.type] ?? refuseUnknownType;
    const context = new HandlerContext(job, { projectId, sink: this.#flusher });
    runAttempt(job, { handler, context, onEnd: this.#onEnded });
  }

  readonly #onEnded = (job: HeldJob, end: AttemptEnd): void => {
    this.#prefetch.countEnd();
    this.#release(job, end.stuck === undefined ? 'ended' : 'stuck');
    if (end.stuck !== undefined) this.#watchStuck(end.stuck);
    this.#finish(job, end.outcome);
  };

  /** A suspect's start must be on record before its handler can take the process down. */
  async #startSuspect(job: HeldJob): Promise<boolean> {
    try {
      return await this.#flusher.startNow(job);
    } catch (error) {
      this.#options.logger.warn({ err: error, jobId: job.claimed.id }, 'start of a suspect failed');
      return false;
    }
  }

  #release(job: HeldJob, handler: 'ended' | 'stuck'): void {
    this.#slots.end(job, handler);
    if (this.#slots.running.size === 0) this.#onIdle?.();
    if (this.#mode === 'stopping') return;
    this.#fillSlots();
    // Suspects are claimed one by one; the next may wait already, and nobody would say so before the next poll.
    if (isSuspect(job)) this.#claimer.wake();
    else this.#claimer.pump();
  }

  #watchStuck(ended: Promise<void>): void {
    const { logger, onFatal } = this.#options;
    void ended.then(() => {
      this.#slots.unstick();
      this.#fillSlots();
      this.#claimer.pump();
    });
    if (this.#slots.stuck * 2 < this.#slots.concurrency) return;
    logger.error({ stuckSlots: this.#slots.stuck }, 'half of the slots are stuck');
    onFatal?.('slots_stuck');
  }

  #finish(job: HeldJob, outcome: AttemptOutcome): void {
    const { attempt, maxAttempts, releaseCount, retryJson } = job.claimed;
    const facts = { attempt, maxAttempts, releaseCount, retry: retryPolicyOf(retryJson) };
    this.#flusher.finish({ job, decision: decideOutcome(facts, outcome, Math.random) });
  }

  readonly #onStored = (
    transition: Decision['transition'],
    finishes: readonly PendingFinish[],
  ): void => {
    this.#heartbeater.drop(finishes.map(({ job }) => job));
    for (const { job } of finishes) this.#stats.count(job, transition);
    const queueIds = [...new Set(finishes.map(({ job }) => job.claimed.queueId))];
    if (transition === 'retry_jobs' || transition === 'release_jobs') {
      this.#notifier.wakeSchedulers();
    }
    if (transition === 'return_jobs') this.#notifier.wakeQueues(queueIds);
    // Slots are left empty while too many ends wait for the database.
    if (this.#mode !== 'stopping') this.#fillSlots();
    for (const queueId of queueIds) this.#claimer.noteStored(queueId);
  };

  readonly #onLate = ({ job }: PendingFinish): void => {
    this.#heartbeater.drop([job]);
    this.#options.logger.warn(
      { jobId: job.claimed.id, executionSeq: job.claimed.executionSeq },
      'late result: the lease was lost',
    );
  };

  readonly #onLost = (job: HeldJob): void => {
    if (this.#slots.remove(job)) {
      this.#heartbeater.drop([job]);
      return;
    }
    abortForLostLease(job);
  };

  readonly #onCancelRequested = (job: HeldJob): void => {
    const error = new HoldfastError('The job was cancelled', { code: 'cancelled' });
    if (this.#slots.remove(job)) {
      this.#finish(job, { kind: 'cancelled', error: { ...cancelledBeforeStart } });
      return;
    }
    abortJob(job, 'cancel', error);
  };

  readonly #onRequested = (mode: WorkerMode): void => {
    if (this.#mode === 'stopping' || mode === this.#mode) return;
    this.#options.logger.info({ mode }, 'worker mode changed on request');
    if (mode === 'stopping') {
      this.#options.onFatal?.('stop_requested');
      return;
    }
    this.#mode = mode;
    if (mode === 'active') this.#claimer.resume();
    else void this.#claimer.pause().then(() => this.#returnBuffered());
  };

  #returnBuffered(): void {
    for (const job of this.#slots.takeBuffered()) {
      this.#finish(job, { kind: 'returned', reason: 'drain' });
    }
  }

  async #drain(): Promise<void> {
    this.#mode = 'stopping';
    await this.#claimer.pause();
    this.#returnBuffered();
    await this.#whenIdle(this.#settings.drainTimeoutMs);
    const error = new HoldfastError('The worker is shutting down', { code: 'shutdown' });
    for (const job of this.#slots.running) abortJob(job, 'shutdown', error);
    await this.#whenIdle(shutdownGraceMs);
    // Whoever ignored the abort is given back; its late result will find the lease gone.
    for (const job of this.#slots.running) job.settle?.({ kind: 'returned', reason: 'drain' });
    await this.#whenIdle(shutdownGraceMs);
    await this.#flusher.drain();
    await this.#close();
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

  async #close(): Promise<void> {
    await this.#listener?.close();
    if (this.#started) {
      await this.#stats.stop();
      await this.#heartbeater.stop();
      await markWorkerStopped(this.#writes, this.#identity).catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'the worker could not sign off');
      });
    }
    await this.#notifier.close();
    await this.#claims.close();
    await this.#writes.close();
    await this.#moreWrites.close();
    this.#removeGuards?.();
  }
}

const cancelledBeforeStart = {
  code: 'cancelled',
  message: 'Cancelled before its handler started',
  fingerprint: 'cancelled',
} as const;

function retryPolicyOf(retryJson: string | null): RetryPolicy {
  // Written by this product from a validated policy.
  return retryJson === null ? defaultRetryPolicy : (JSON.parse(retryJson) as RetryPolicy);
}

function refuseUnknownType(): never {
  throw new HoldfastError('This worker has no handler for the type', { code: 'handler_missing' });
}

/** Makes a worker; nothing happens before `start`. */
export function createWorkerEngine(options: WorkerOptions): WorkerEngine {
  return new WorkerEngine(options);
}
