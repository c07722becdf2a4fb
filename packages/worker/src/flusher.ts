import { appendLogs, recordProgress, startJobs } from '@holdfast/database';
import type { Lane, LogLine } from '@holdfast/database';
import type { Clock, Logger } from '@holdfast/runtime';
import { FinishWriter } from './finish-writer.ts';
import type { FinishListener, PendingFinish } from './finish-writer.ts';
import { byJobId, leaseOf } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import type { ContextLogLine, ContextSink } from './job-context.ts';
import { monotonicMs } from './monotonic.ts';

/** What the flusher works with. */
export interface FlusherOptions {
  /** As many flushes may be under way at once; all but the first stay unused until there is much to write. */
  readonly lanes: readonly [Lane, ...Lane[]];
  readonly projectId: string;
  readonly workerId: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly listener: FinishListener;
}

/** Ends of one flush at most. */
const maxBatch = 1_000;
/** As many ends need not wait for a flush under way. */
const fullBatch = 500;
/** Log lines of one flush at most. */
const maxLogLines = 2_000;
/** Starts wait this long: a job that ends sooner is written once, with both times. */
const startDelayMs = 4;

/**
 * Collects starts, ends, progress and log lines, and writes them in one statement each. While one flush is under way the
 * next one gathers until it is full, so that an idle worker writes at once and a busy one writes in large batches.
 */
export class Flusher implements ContextSink {
  readonly #options: FlusherOptions;
  #starts: HeldJob[] = [];
  #finishes: PendingFinish[] = [];
  #logs: { readonly job: HeldJob; readonly line: ContextLogLine; readonly atMs: number }[] = [];
  #progress = new Map<HeldJob, string>();
  #startTimer: NodeJS.Timeout | undefined;
  readonly #flushes = new Map<Lane, Promise<void>>();
  /** Where a flush with log lines or progress is under way. */
  #reporting: Lane | undefined;
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

  /** Writes the start at once, as that of a suspect before its handler runs; answers whether its lease still held. */
  async startNow(job: HeldJob): Promise<boolean> {
    const ids = await startJobs(this.#options.lanes[0], {
      projectId: this.#options.projectId,
      started: [{ ...leaseOf(job), startedAgoMs: 0 }],
    });
    job.startReported = true;
    return ids.has(job.claimed.id);
  }

  /** An attempt ended; its start need not be written any more. */
  finish(finish: PendingFinish): void {
    finish.job.startReported = true;
    finish.job.isRowLocked = false;
    this.#finishes.push(finish);
    this.#schedule();
  }

  /** A line for the execution's log. */
  log(job: HeldJob, line: ContextLogLine): void {
    this.#logs.push({ job, line, atMs: monotonicMs() });
    this.#schedule();
  }

  /** How far the handler is; only the newest report of a job is written. */
  progress(job: HeldJob, progressJson: string): void {
    this.#progress.set(job, progressJson);
    this.#schedule();
  }

  /** Resolves when the job's log lines and progress that were handed in are written, or given up. */
  async reportsWritten(job: HeldJob): Promise<void> {
    const isWaiting = () => this.#logs.some((log) => log.job === job) || this.#hasProgress(job);
    if (this.#reporting !== undefined) await this.#flushes.get(this.#reporting);
    while (isWaiting()) {
      if (this.#flushes.size === 0) this.#flush();
      await Promise.all(this.#flushes.values());
    }
  }

  /** Resolves when everything that was handed in is written, or given up because its lease has ended. */
  async drain(): Promise<void> {
    clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
    while (this.#hasWork() || this.#flushes.size > 0) {
      if (this.#flushes.size === 0) this.#flush();
      await Promise.all(this.#flushes.values());
    }
  }

  #hasWork(): boolean {
    return this.#finishes.length > 0 || this.#logs.length > 0 || this.#hasProgress();
  }

  /** Whether there is progress to write, of this job or of any; a row that its handler has locked must wait. */
  #hasProgress(job?: HeldJob): boolean {
    if (job !== undefined) return this.#progress.has(job) && !job.isRowLocked;
    if (this.#progress.size === 0) return false;
    return [...this.#progress.keys()].some((each) => !each.isRowLocked);
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayFlush()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#mayFlush()) return;
      this.#flush();
      if (this.#finishes.length > 0) this.#schedule();
    });
  }

  /** Beside a flush under way goes only a full batch, and nothing that could overtake log lines of the same job. */
  #mayFlush(): boolean {
    if (this.#flushes.size === 0) return true;
    const isFull = this.#finishes.length >= fullBatch;
    return isFull && this.#reporting === undefined && this.#idleLane() !== undefined;
  }

  #idleLane(): Lane | undefined {
    return this.#options.lanes.find((lane) => !this.#flushes.has(lane));
  }

  #flush(): void {
    const lane = this.#idleLane();
    if (lane === undefined) return;
    if (this.#logs.length > 0 || this.#hasProgress()) this.#reporting = lane;
    const flush = this.#flushAll(lane).finally(() => {
      this.#flushes.delete(lane);
      if (this.#reporting === lane) this.#reporting = undefined;
      const startsAreDue = this.#starts.length > 0 && this.#startTimer === undefined;
      if (this.#hasWork() || startsAreDue) this.#schedule();
    });
    this.#flushes.set(lane, flush);
  }

  /** The lane keeps the order: log lines and starts go before the ends that remove the rows. */
  async #flushAll(lane: Lane): Promise<void> {
    const finishes = this.#finishes.splice(0, maxBatch);
    await Promise.all([
      this.#writeLogs(lane),
      this.#writeProgress(lane),
      this.#writeStarts(lane),
      new FinishWriter({ ...this.#options, lane }).write(finishes),
    ]);
  }

  async #writeLogs(lane: Lane): Promise<void> {
    const logs = this.#logs.splice(0, maxLogLines);
    if (logs.length === 0) return;
    const nowMs = monotonicMs();
    const lines: LogLine[] = logs.map(({ job, line, atMs }) => ({
      ...leaseOf(job),
      agoMs: nowMs - atMs,
      ...line,
    }));
    // Log lines are the first thing to be shed: an error here must not hold up the ends of jobs.
    await this.#tryWrite('job logs', () =>
      appendLogs(lane, { projectId: this.#options.projectId, lines }),
    );
  }

  async #writeProgress(lane: Lane): Promise<void> {
    const ready = [...this.#progress].filter(([job]) => !job.isRowLocked);
    if (ready.length === 0) return;
    for (const [job] of ready) this.#progress.delete(job);
    const progress = ready.map(([job, progressJson]) => ({ ...leaseOf(job), progressJson }));
    await this.#tryWrite('job progress', () =>
      recordProgress(lane, { projectId: this.#options.projectId, progress }),
    );
  }

  async #writeStarts(lane: Lane): Promise<void> {
    const waiting = this.#starts.filter((job) => !job.startReported);
    this.#starts = [];
    if (waiting.length === 0) return;
    const nowMs = monotonicMs();
    const started = waiting.sort(byJobId).map((job) => {
      job.startReported = true;
      return { ...leaseOf(job), startedAgoMs: nowMs - job.startedAtMs };
    });
    // A start that is not written is written with the end.
    await this.#tryWrite('job starts', () =>
      startJobs(lane, { projectId: this.#options.projectId, started }),
    );
  }

  async #tryWrite(what: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#options.logger.warn({ err: error }, `write of ${what} failed`);
    }
  }
}
