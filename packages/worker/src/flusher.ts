import {
  appendLogs,
  finishJobs,
  isTransientError,
  recordLateResult,
  recordProgress,
  startJobs,
} from '@holdfast/database';
import type { FinishedJob, Lane, LogLine } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { Clock, Logger } from '@holdfast/runtime';
import type { HeldJob } from './held-job.ts';
import type { ContextLogLine, ContextSink } from './job-context.ts';
import { monotonicMs } from './monotonic.ts';

/** An attempt's end on its way to the database. */
export interface PendingFinish {
  readonly job: HeldJob;
  readonly decision: Decision;
}

/** What became of a write. */
export interface FlushListener {
  /** The end is stored. */
  onFinished(finish: PendingFinish): void;
  /** The lease was gone: nothing changed. */
  onLate(finish: PendingFinish): void;
}

/** What the flusher works with. */
export interface FlusherOptions {
  readonly lane: Lane;
  readonly projectId: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly listener: FlushListener;
}

const maxBatch = 500;
/** Starts wait this long: a job that ends sooner is written once, with both times. */
const startDelayMs = 4;
const retryCapMs = 5_000;

/**
 * Collects starts, ends, progress and log lines, and writes them in one statement each. While one flush is under way the
 * next one gathers, so that an idle worker writes at once and a busy one writes in large batches.
 */
export class Flusher implements ContextSink {
  readonly #options: FlusherOptions;
  #starts: HeldJob[] = [];
  #finishes: PendingFinish[] = [];
  #logs: { readonly job: HeldJob; readonly line: ContextLogLine; readonly atMs: number }[] = [];
  #progress = new Map<HeldJob, string>();
  #startTimer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #scheduled = false;

  constructor(options: FlusherOptions) {
    this.#options = options;
  }

  /** Ends that are not stored yet. */
  get pendingFinishes(): number {
    return this.#finishes.length;
  }

  /** A handler started; written soon unless it ends before. */
  started(job: HeldJob): void {
    this.#starts.push(job);
    this.#startTimer ??= setTimeout(() => {
      this.#startTimer = undefined;
      this.#schedule();
    }, startDelayMs);
  }

  /** Writes the start of a suspect before its handler runs; answers whether its lease still held. */
  async startNow(job: HeldJob): Promise<boolean> {
    const ids = await startJobs(this.#options.lane, {
      projectId: this.#options.projectId,
      started: [{ id: job.claimed.id, token: job.claimed.leaseToken, startedAgoMs: 0 }],
    });
    job.startReported = true;
    return ids.has(job.claimed.id);
  }

  finish(finish: PendingFinish): void {
    finish.job.startReported = true;
    this.#finishes.push(finish);
    this.#schedule();
  }

  log(job: HeldJob, line: ContextLogLine): void {
    this.#logs.push({ job, line, atMs: monotonicMs() });
    this.#schedule();
  }

  progress(job: HeldJob, progressJson: string): void {
    this.#progress.set(job, progressJson);
    this.#schedule();
  }

  /** Resolves when everything that was handed in is written, or given up because its lease has ended. */
  async drain(): Promise<void> {
    clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
    while (this.#hasWork() || this.#flushing !== undefined) {
      await (this.#flushing ?? this.#flush());
    }
  }

  #hasWork(): boolean {
    return this.#finishes.length > 0 || this.#logs.length > 0 || this.#progress.size > 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#flushing !== undefined) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#flush();
    });
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#flushAll().finally(() => {
      this.#flushing = undefined;
      const startsAreDue = this.#starts.length > 0 && this.#startTimer === undefined;
      if (this.#hasWork() || startsAreDue) this.#schedule();
    });
    return this.#flushing;
  }

  /** The lane keeps the order: log lines and starts go before the ends that remove the rows. */
  async #flushAll(): Promise<void> {
    const finishes = this.#finishes.splice(0, maxBatch);
    await Promise.all([
      this.#writeLogs(),
      this.#writeProgress(),
      this.#writeStarts(),
      this.#writeFinishes(finishes),
    ]);
  }

  async #writeLogs(): Promise<void> {
    const logs = this.#logs.splice(0, maxBatch * 4);
    if (logs.length === 0) return;
    const nowMs = monotonicMs();
    const lines: LogLine[] = logs.map(({ job, line, atMs }) => ({
      id: job.claimed.id,
      token: job.claimed.leaseToken,
      agoMs: nowMs - atMs,
      ...line,
    }));
    // Log lines are the first thing to be shed: an error here must not hold up the ends of jobs.
    await this.#attempt('job logs', () =>
      appendLogs(this.#options.lane, { projectId: this.#options.projectId, lines }),
    );
  }

  async #writeProgress(): Promise<void> {
    if (this.#progress.size === 0) return;
    const progress = [...this.#progress].map(([job, progressJson]) => ({
      id: job.claimed.id,
      token: job.claimed.leaseToken,
      progressJson,
    }));
    this.#progress.clear();
    await this.#attempt('job progress', () =>
      recordProgress(this.#options.lane, { projectId: this.#options.projectId, progress }),
    );
  }

  async #writeStarts(): Promise<void> {
    const waiting = this.#starts.filter((job) => !job.startReported);
    this.#starts = [];
    if (waiting.length === 0) return;
    const nowMs = monotonicMs();
    const started = waiting.sort(byJobId).map((job) => {
      job.startReported = true;
      const { id, leaseToken: token } = job.claimed;
      return { id, token, startedAgoMs: nowMs - job.startedAtMs };
    });
    // A start that is not written is written with the end.
    await this.#attempt('job starts', () =>
      startJobs(this.#options.lane, { projectId: this.#options.projectId, started }),
    );
  }

  async #writeFinishes(finishes: readonly PendingFinish[]): Promise<void> {
    const groups = new Map<Decision['transition'], PendingFinish[]>();
    for (const finish of finishes) {
      const group = groups.get(finish.decision.transition);
      if (group === undefined) groups.set(finish.decision.transition, [finish]);
      else group.push(finish);
    }
    const writes = [...groups].map(([transition, group]) => this.#writeGroup(transition, group));
    await Promise.all(writes);
  }

  async #writeGroup(
    transition: Decision['transition'],
    group: readonly PendingFinish[],
  ): Promise<void> {
    const sorted = [...group].sort((a, b) => byJobId(a.job, b.job));
    const stored = await this.#storeWithRetry(transition, sorted);
    const missing = sorted.filter(({ job }) => !stored.has(job.claimed.id));
    for (const finish of sorted) {
      if (stored.has(finish.job.claimed.id)) this.#options.listener.onFinished(finish);
    }
    if (missing.length > 0) await this.#settleMissing(transition, missing);
  }

  /** A job that was not there to be moved has a cancel request, or its lease is gone. */
  async #settleMissing(
    transition: Decision['transition'],
    missing: readonly PendingFinish[],
  ): Promise<void> {
    const abandoned =
      transition === 'complete_jobs' || transition === 'abandon_jobs'
        ? new Set<string>()
        : await this.#storeWithRetry('abandon_jobs', missing);
    for (const finish of missing) {
      if (abandoned.has(finish.job.claimed.id)) {
        this.#options.listener.onFinished({
          ...finish,
          decision: { transition: 'abandon_jobs', executionStatus: 'cancelled' },
        });
        continue;
      }
      this.#options.listener.onLate(finish);
      await this.#attempt('late result', () =>
        recordLateResult(this.#options.lane, {
          projectId: this.#options.projectId,
          job: toFinished(finish),
        }),
      );
    }
  }

  /**
   * Repeats a write whose outcome is unknown until it is known or every lease has ended: the token makes repeating
   * safe. A batch that the server refuses is halved until the job that it refuses is alone.
   */
  async #storeWithRetry(
    transition: Decision['transition'],
    finishes: readonly PendingFinish[],
  ): Promise<ReadonlySet<string>> {
    for (let tries = 1; ; tries += 1) {
      try {
        const jobs = finishes.map(toFinished);
        const { lane, projectId } = this.#options;
        return await finishJobs(lane, { projectId, transition, jobs });
      } catch (error) {
        if (!isTransientError(error)) return this.#halve(transition, finishes, error);
        if (finishes.every(({ job }) => job.lost)) return new Set();
        this.#options.logger.warn({ err: error, transition, tries }, 'write of job ends failed');
        await this.#options.clock.sleep(Math.random() * Math.min(retryCapMs, 50 * 2 ** tries));
      }
    }
  }

  async #halve(
    transition: Decision['transition'],
    finishes: readonly PendingFinish[],
    error: unknown,
  ): Promise<ReadonlySet<string>> {
    const [only] = finishes;
    if (only !== undefined && finishes.length === 1 && only.decision.resultJson !== undefined) {
      // The handler succeeded; a result that the server cannot hold must not make it run again.
      const decision = { ...only.decision, resultJson: refusedResult };
      if (only.decision.resultJson !== refusedResult) {
        return this.#storeWithRetry(transition, [{ ...only, decision }]);
      }
    }
    if (finishes.length <= 1) {
      // The reaper gives it another try when the lease ends.
      this.#options.logger.error({ err: error, jobId: only?.job.claimed.id }, 'job end refused');
      return new Set();
    }
    const middle = Math.ceil(finishes.length / 2);
    const halves = [finishes.slice(0, middle), finishes.slice(middle)];
    const stored = await Promise.all(halves.map((half) => this.#storeWithRetry(transition, half)));
    return new Set(stored.flatMap((ids) => [...ids]));
  }

  async #attempt(what: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#options.logger.warn({ err: error }, `write of ${what} failed`);
    }
  }
}

const refusedResult = JSON.stringify({
  holdfast: 'result_unserialisable',
  message: 'JSON that the database refused',
});

function byJobId(a: HeldJob, b: HeldJob): number {
  return a.claimed.id < b.claimed.id ? -1 : 1;
}

function toFinished({ job, decision }: PendingFinish): FinishedJob {
  const nowMs = monotonicMs();
  return {
    id: job.claimed.id,
    token: job.claimed.leaseToken,
    executionSeq: job.claimed.executionSeq,
    startedAgoMs: job.startedAtMs === 0 ? 0 : nowMs - job.startedAtMs,
    finishedAgoMs: job.finishedAtMs === 0 ? 0 : nowMs - job.finishedAtMs,
    decision,
  };
}
