import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createNotifier,
  createSettler,
  markWorkerStopped,
  openClientTransactions,
  openListener,
  registerWorker,
} from '@holdfast/database';
import type {
  ClientTransactions,
  Lane,
  Listener,
  Notifier,
  Settler,
  WorkerIdentity,
  WorkerMode,
} from '@holdfast/database';
import { claimName } from '@holdfast/domain';
import type { Decision } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import type { Service } from '@holdfast/runtime';
import { announceEnds } from './announce-ends.ts';
import { Claimer } from './claimer.ts';
import type { ClaimerOptions } from './claimer.ts';
import { FencedTransactions } from './fenced-transactions.ts';
import { Flusher } from './flusher.ts';
import type { PendingFinish } from './finish-writer.ts';
import type { JobHandler } from './handler.ts';
import { Heartbeater } from './heartbeater.ts';
import { holdJob } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import type { ContextServices } from './job-context.ts';
import { JobRunner } from './job-runner.ts';
import { PrefetchTarget } from './prefetch-target.ts';
import { guardProcess } from './process-guards.ts';
import type { RemoveGuards } from './process-guards.ts';
import { Slots } from './slots.ts';
import { StatsCollector } from './stats-collector.ts';
import { createWorkerMetrics } from './worker-metrics.ts';
import type { WorkerMetrics } from './worker-metrics.ts';
import { isolateHandler } from './thread/isolate-handler.ts';
import { isThreadHandler } from './thread/thread-handler.ts';
import { ThreadPool } from './thread/thread-pool.ts';
import { workerSettings } from './worker-options.ts';
import type { WorkerOptions, WorkerSettings } from './worker-options.ts';

/** Connections for handlers' transactions at most; further ones wait. */
const maxTransactions = 20;
/** Handlers get this long between the abort at the end of a drain and the return of their jobs. */
const shutdownGraceMs = 1_000;

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
  readonly #identity: WorkerIdentity;
  readonly #slots: Slots;
  readonly #claims: Lane;
  readonly #writes: Lane;
  readonly #moreWrites: Lane;
  readonly #flusher: Flusher;
  readonly #transactions: ClientTransactions;
  readonly #threads: ThreadPool;
  readonly #runner: JobRunner;
  readonly #claimer: Claimer;
  readonly #heartbeater: Heartbeater;
  readonly #stats: StatsCollector;
  readonly #metrics: WorkerMetrics | undefined;
  readonly #notifier: Notifier;
  readonly #settler: Settler;
  #listener: Listener | undefined;
  #removeGuards: RemoveGuards | undefined;
  #mode: WorkerMode = 'active';
  #stopping: Promise<void> | undefined;
  #started = false;

  /** @throws ConfigError that lists every bad setting. */
  constructor(options: WorkerOptions) {
    const { database, projectId, logger, metrics } = options;
    this.#options = options;
    this.#settings = workerSettings(options);
    this.#identity = this.#identify();
    this.#slots = new Slots(this.#settings.concurrency);
    this.#claims = database.openLane('claims');
    this.#writes = database.openLane('lane');
    this.#moreWrites = database.openLane('lane');
    this.#notifier = createNotifier(database);
    this.#settler = createSettler(database, {
      notifier: this.#notifier,
      onError: (error) => {
        logger.warn({ err: error }, 'what follows from ended jobs is left to the schedulers');
      },
      onRenamed: (callback) => {
        logger.warn(
          callback,
          'the id of a callback was taken by another job, so the callback has a new one',
        );
      },
    });
    this.#metrics = metrics && createWorkerMetrics(metrics);
    const shared = { projectId, logger, lane: this.#writes, workerId: this.id };
    this.#stats = new StatsCollector(shared);
    this.#flusher = new Flusher({
      ...shared,
      lanes: [this.#writes, this.#moreWrites],
      clock: options.clock ?? systemClock,
      listener: { onFinished: this.#onStored, onLate: this.#onLate },
    });
    this.#transactions = this.#openTransactions();
    // One for each slot, and one for the quarantine.
    this.#threads = new ThreadPool(this.#settings.concurrency + 1);
    this.#runner = this.#makeRunner();
    this.#claimer = new Claimer({ ...shared, ...this.#claiming(), lane: this.#claims });
    this.#heartbeater = this.#makeHeartbeater();
  }

  /** What the worker does now. */
  get mode(): WorkerMode {
    return this.#mode;
  }

  /** Registers the worker and begins to claim. */
  async start(): Promise<void> {
    await registerWorker(this.#writes, this.#identity);
    this.#started = true;
    if (this.#options.guards !== false) this.#removeGuards = this.#guard();
    this.#heartbeater.start();
    this.#stats.start();
    this.#claimer.resume();
    if (this.#options.notifications !== false) this.#listener = this.#listen();
  }

  /**
   * Drains; safe to call twice. Resolves when every job that was held is written or given back.
   *
   * @param options.drainTimeoutMs how long to wait for running handlers, instead of the worker's own setting
   */
  stop(options: { readonly drainTimeoutMs?: number | undefined } = {}): Promise<void> {
    const { drainTimeoutMs = this.#settings.drainTimeoutMs } = options;
    this.#stopping ??= this.#started ? this.#drain(drainTimeoutMs) : this.#close();
    return this.#stopping;
  }

  #identify(): WorkerIdentity {
    const { projectId, handlers, queues, labels = {}, build = 'unknown' } = this.#options;
    const { payloadVersions: versions = {} } = this.#options;
    return {
      projectId,
      id: this.id,
      host: hostname(),
      pid: process.pid,
      build,
      labels,
      queues: queues ?? ['*'],
      types: Object.keys(handlers).flatMap((type) =>
        (versions[type] ?? [1]).map((version) => claimName(type, version)),
      ),
      slots: this.#settings.concurrency,
      leaseMs: this.#settings.leaseMs,
    };
  }

  #openTransactions(): ClientTransactions {
    const { database, logger } = this.#options;
    return openClientTransactions({
      settings: database.settings,
      poolSize: Math.min(maxTransactions, this.#settings.concurrency + 1),
      onIdleError: (error) => {
        logger.warn({ err: error }, 'database connection lost');
      },
    });
  }

  #contextServices(): ContextServices {
    const { database, projectId, logger, clock = systemClock } = this.#options;
    const shared = { projectId, logger, clock };
    return {
      projectId,
      sink: this.#flusher,
      steps: { ...shared, db: this.#writes },
      transactions: new FencedTransactions({
        ...{ ...shared, database, workerId: this.id },
        opener: this.#options.transactions ?? this.#transactions,
        reportsWritten: (job) => this.#flusher.reportsWritten(job),
        writeStart: (job) => this.#flusher.startNow(job),
        onStored: (finish) => {
          this.#onStored('complete_jobs', [finish]);
        },
      }),
    };
  }

  #handlers(): Readonly<Record<string, JobHandler>> {
    const { handlers, threadGraceMs: graceMs } = this.#options;
    const entries = Object.entries(handlers).map(
      ([type, entry]) =>
        [
          type,
          isThreadHandler(entry)
            ? isolateHandler(entry, { type, pool: this.#threads, graceMs })
            : entry,
        ] as const,
    );
    return Object.fromEntries(entries);
  }

  #makeRunner(): JobRunner {
    const { backoffs, fragileTypes = [], logger, onFatal } = this.#options;
    return new JobRunner({
      handlers: this.#handlers(),
      ...{ backoffs, fragileTypes, logger, slots: this.#slots, flusher: this.#flusher },
      services: this.#contextServices(),
      prefetch: new PrefetchTarget(this.#settings.maxPrefetch),
      onRoom: (slot) => {
        // Suspects are claimed one by one; the next may wait already, and nobody would say so before the next poll.
        if (slot === 'suspect') this.#claimer.wake();
        else this.#claimer.pump();
      },
      onDropped: (job) => {
        this.#heartbeater.drop([job]);
      },
      onStuck: () => onFatal?.('slots_stuck'),
    });
  }

  #claiming(): Omit<ClaimerOptions, 'lane' | 'projectId' | 'workerId' | 'logger'> {
    const { leaseMs, pollIntervalMs } = this.#settings;
    return {
      ...{ leaseMs, pollIntervalMs, queueNames: this.#options.queues, types: this.#identity.types },
      capacity: () => this.#runner.capacity(),
      onClaimed: (claims, sentAtMs) => {
        const jobs = claims.map(({ job, queueName }) => holdJob(job, queueName, sentAtMs));
        const token = jobs[0]?.claimed.leaseToken;
        if (token === undefined) return;
        this.#heartbeater.hold(token, jobs);
        this.#runner.add(jobs);
      },
    };
  }

  #makeHeartbeater(): Heartbeater {
    const lose = (job: HeldJob): void => {
      this.#runner.lose(job);
    };
    return new Heartbeater({
      settings: this.#options.database.settings,
      identity: this.#identity,
      heartbeatMs: this.#settings.heartbeatMs,
      logger: this.#options.logger,
      vitals: () => {
        const { busy, stuck, concurrency: all } = this.#slots;
        this.#metrics?.slots({ all, busy, stuck });
        return { status: this.#mode, busySlots: busy, stuckSlots: stuck };
      },
      listener: {
        onLost: lose,
        onUnconfirmed: lose,
        onCancelRequested: (job) => {
          this.#runner.cancel(job);
        },
        onRequested: (mode) => {
          this.#change(mode);
        },
      },
    });
  }

  #guard(): RemoveGuards {
    const { logger, isGuest = false, onFatal } = this.#options;
    return guardProcess({
      ...{ logger, isGuest },
      onFatal: (error) => {
        logger.fatal({ err: error }, 'uncaught exception');
        onFatal?.('uncaught_exception');
      },
    });
  }

  #listen(): Listener {
    return openListener(this.#options.database, {
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

  readonly #onStored = (
    transition: Decision['transition'],
    finishes: readonly PendingFinish[],
  ): void => {
    this.#heartbeater.drop(finishes.map(({ job }) => job));
    for (const { job, decision } of finishes) {
      this.#stats.count(job, transition);
      if (decision.executionStatus !== 'running')
        this.#metrics?.count(job, decision.executionStatus);
    }
    announceEnds(finishes, { transition, ...this.#options });
    if (finishes.some(({ job }) => job.claimed.isAwaited)) this.#settler.kick();
    const queueIds = [...new Set(finishes.map(({ job }) => job.claimed.queueId))];
    if (transition === 'retry_jobs' || transition === 'release_jobs') {
      this.#notifier.wakeSchedulers();
    }
    if (transition === 'return_jobs') this.#notifier.wakeQueues(queueIds);
    // Slots are left empty while too many ends wait for the database.
    this.#runner.fillSlots();
    for (const queueId of queueIds) this.#claimer.noteStored(queueId);
  };

  readonly #onLate = ({ job }: PendingFinish): void => {
    this.#heartbeater.drop([job]);
    this.#metrics?.count(job, 'late');
    this.#options.logger.warn(
      { jobId: job.claimed.id, executionSeq: job.claimed.executionSeq },
      'late result: the lease was lost',
    );
  };

  #change(mode: WorkerMode): void {
    if (this.#mode === 'stopping' || mode === this.#mode) return;
    this.#options.logger.info({ mode }, 'worker mode changed on request');
    if (mode === 'stopping') {
      this.#options.onFatal?.('stop_requested');
      return;
    }
    this.#mode = mode;
    if (mode === 'active') this.#claimer.resume();
    else void this.#quieten();
  }

  async #quieten(): Promise<void> {
    await this.#claimer.pause();
    // Between the request and the end of the last claim a person may have changed their mind.
    if (this.#mode === 'quiet') this.#runner.returnBuffered();
  }

  async #drain(drainMs: number): Promise<void> {
    this.#mode = 'stopping';
    await this.#claimer.pause();
    await this.#runner.stop({ drainMs, graceMs: shutdownGraceMs });
    await this.#threads.close();
    await this.#flusher.drain();
    await this.#close();
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
    // A handler that ignored its abort may hold a transaction open for ever.
    const { clock = systemClock } = this.#options;
    await Promise.race([this.#transactions.close(), clock.sleep(shutdownGraceMs)]);
    await Promise.race([this.#settler.idle(), clock.sleep(shutdownGraceMs)]);
    await this.#notifier.close();
    await this.#claims.close();
    await this.#writes.close();
    await this.#moreWrites.close();
    this.#removeGuards?.();
  }
}

/** Makes a worker; nothing happens before `start`. */
export function createWorkerEngine(options: WorkerOptions): WorkerEngine {
  return new WorkerEngine(options);
}
