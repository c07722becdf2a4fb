import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { WorkerMode } from '@holdfast/database';
import type { Logger } from '@holdfast/runtime';
import { isEndedByHandler } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import type {
  FromHeartbeat,
  HeartbeatStart,
  HeldChange,
  ToHeartbeat,
  Vitals,
} from './heartbeat-messages.ts';
import { monotonicMs } from './monotonic.ts';

/** What the heartbeat tells the worker. */
export interface HeartbeatListener {
  /** The database says that the lease is gone. */
  onLost(job: HeldJob): void;
  onCancelRequested(job: HeldJob): void;
  /** The lease could not be renewed in time: stop before the reaper gives the job away. */
  onUnconfirmed(job: HeldJob): void;
  /** A person asked the worker for something. */
  onRequested(mode: WorkerMode): void;
}

/** What the heartbeater works with. */
export interface HeartbeaterOptions extends HeartbeatStart {
  readonly logger: Logger;
  readonly listener: HeartbeatListener;
  vitals(): Omit<Vitals, 'loopLagMs'>;
}

/** A worker gives up a lease that was not confirmed for this share of its length. */
const selfFenceShare = 0.8;
const vitalsEveryMs = 1_000;
const checkEveryMs = 250;
const dropWithinMs = 100;
/** It holds some thousand ids; without a limit its garbage grows to as much as the whole worker needs. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 } as const;

// Node cannot run TypeScript in a thread, so the sources use the built thread too.
const threadUrl = new URL(
  import.meta.url.endsWith('.ts') ? '../dist/heartbeat-thread.js' : './heartbeat-thread.js',
  import.meta.url,
);

/** Keeps the leases of the jobs that the worker holds, through a thread that beats whatever the handlers do. */
export class Heartbeater {
  readonly #options: HeartbeaterOptions;
  readonly #held = new Map<string, { readonly job: HeldJob; readonly order: number }>();
  readonly #loopDelay = monitorEventLoopDelay({ resolution: 20 });
  #thread: Worker | undefined;
  /** Ids that the thread does not know of yet. */
  #dropped: string[] = [];
  #dropTimer: NodeJS.Timeout | undefined;
  #order = 0;
  #timers: NodeJS.Timeout[] = [];
  #stopping = false;
  #onStopped: (() => void) | undefined;

  constructor(options: HeartbeaterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loopDelay.enable();
    this.#startThread();
    this.#timers = [
      setInterval(() => {
        this.#sendVitals();
      }, vitalsEveryMs),
      setInterval(() => {
        // After a blocked event loop timers come first; the beats that came meanwhile must be heard before the verdict.
        setImmediate(() => {
          this.#fenceUnconfirmed();
        });
      }, checkEveryMs),
    ];
  }

  /** The jobs share one token: they come from one claim. */
  hold(token: string, jobs: readonly HeldJob[]): void {
    this.#order += 1;
    const order = this.#order;
    for (const job of jobs) this.#held.set(job.claimed.id, { job, order });
    this.#sendHeld({ order, token, ids: jobs.map(idOf).join(',') });
  }

  drop(jobs: readonly HeldJob[]): void {
    // One that was claimed again meanwhile is held under another lease.
    for (const job of jobs) {
      const { id } = job.claimed;
      if (this.#held.get(id)?.job !== job) continue;
      this.#held.delete(id);
      this.#dropped.push(id);
    }
    // Nothing hangs on it: a beat that still names them is told that they are gone.
    this.#dropTimer ??= setTimeout(() => this.#sendHeld(undefined), dropWithinMs);
  }

  /** Beats at once, to learn of a cancel or another request. */
  beatNow(): void {
    this.#post({ kind: 'beat_now' });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#dropTimer);
    this.#loopDelay.disable();
    const thread = this.#thread;
    if (thread === undefined) return;
    const exited = new Promise<void>((resolve) => {
      this.#onStopped = resolve;
      thread.once('exit', () => {
        resolve();
      });
    });
    this.#post({ kind: 'stop' });
    const patience = setTimeout(() => void thread.terminate(), 3_000);
    await exited;
    clearTimeout(patience);
    await thread.terminate();
  }

  #startThread(): void {
    const { settings, identity, heartbeatMs } = this.#options;
    const workerData: HeartbeatStart = {
      // Only what can be copied to a thread.
      settings: {
        connectionString: settings.connectionString,
        ssl: settings.ssl,
        schema: settings.schema,
        pooled: settings.pooled,
        applicationName: settings.applicationName,
      },
      identity,
      heartbeatMs,
    };
    const thread = new Worker(threadUrl, { workerData, execArgv: [], resourceLimits });
    this.#thread = thread;
    thread.on('message', (message: FromHeartbeat) => {
      this.#receive(message);
    });
    thread.on('error', (error) => {
      this.#options.logger.error({ err: error }, 'heartbeat thread failed');
    });
    thread.on('exit', () => {
      if (this.#stopping || this.#thread !== thread) return;
      this.#startThread();
      this.#sendAllHeld();
    });
  }

  /** What was dropped goes along with what was claimed, so that the thread is woken half as often. */
  #sendHeld(claimed: HeldChange['claimed']): void {
    clearTimeout(this.#dropTimer);
    this.#dropTimer = undefined;
    const dropped = this.#dropped.join(',');
    this.#dropped = [];
    this.#post({ kind: 'held', dropped, claimed });
  }

  /** A new thread knows nothing yet. */
  #sendAllHeld(): void {
    for (const { job, order } of this.#held.values()) {
      const { id, leaseToken: token } = job.claimed;
      this.#sendHeld({ order, token, ids: id });
    }
  }

  #receive(message: FromHeartbeat): void {
    switch (message.kind) {
      case 'beat':
        this.#receiveBeat(message);
        return;
      case 'failed':
        this.#options.logger.warn({ reason: message.message }, 'heartbeat failed');
        return;
      case 'stopped':
        this.#onStopped?.();
    }
  }

  #receiveBeat(beat: Extract<FromHeartbeat, { kind: 'beat' }>): void {
    this.#confirm(beat);
    for (const id of beat.lost) {
      const job = this.#held.get(id)?.job;
      if (job === undefined) continue;
      this.#held.delete(id);
      job.lost = true;
      this.#options.listener.onLost(job);
    }
    for (const id of beat.cancelRequested) {
      const job = this.#held.get(id)?.job;
      if (job !== undefined) this.#options.listener.onCancelRequested(job);
    }
    if (beat.requested !== undefined) this.#options.listener.onRequested(beat.requested);
  }

  #confirm(beat: Extract<FromHeartbeat, { kind: 'beat' }>): void {
    const lost = new Set(beat.lost);
    const notExtended = new Set(beat.notExtended);
    for (const [id, { job, order }] of this.#held) {
      if (order > beat.order || lost.has(id)) continue;
      // Nobody can take away a lease whose row the handler itself has locked.
      if (notExtended.has(id) && !job.isRowLocked && !isEndedByHandler(job)) continue;
      job.confirmedAtMs = beat.sentAtMs;
      if (!notExtended.has(id)) job.isRowLocked = false;
    }
  }

  #fenceUnconfirmed(): void {
    const oldestMs = monotonicMs() - this.#options.identity.leaseMs * selfFenceShare;
    for (const { job } of this.#held.values()) {
      if (job.confirmedAtMs < oldestMs) this.#options.listener.onUnconfirmed(job);
    }
  }

  #sendVitals(): void {
    const loopLagMs = Math.max(0, this.#loopDelay.percentile(99) / 1e6 - 20);
    this.#loopDelay.reset();
    this.#post({ kind: 'vitals', vitals: { ...this.#options.vitals(), loopLagMs } });
  }

  #post(message: ToHeartbeat): void {
    this.#thread?.postMessage(message);
  }
}

function idOf(job: HeldJob): string {
  return job.claimed.id;
}
