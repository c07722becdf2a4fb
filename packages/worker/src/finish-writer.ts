import { findStoredEnds, finishJobs, isTransientError, recordLateResult } from '@holdfast/database';
import type { FinishedJob, Lane } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { Clock, Logger } from '@holdfast/runtime';
import { byJobId } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import { monotonicMs } from './monotonic.ts';

/** An attempt's end on its way to the database. */
export interface PendingFinish {
  readonly job: HeldJob;
  readonly decision: Decision;
}

/** What became of a write. */
export interface FinishListener {
  /** These ends are stored, by one transition. */
  onFinished(transition: Decision['transition'], finishes: readonly PendingFinish[]): void;
  /** The lease was gone: nothing changed. */
  onLate(finish: PendingFinish): void;
}

/** What the writer works with. */
export interface FinishWriterOptions {
  readonly lane: Lane;
  readonly projectId: string;
  readonly workerId: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly listener: FinishListener;
}

const retryCapMs = 5_000;

/** Writes the ends of attempts on one lane, one statement for each transition. */
export class FinishWriter {
  readonly #options: FinishWriterOptions;

  constructor(options: FinishWriterOptions) {
    this.#options = options;
  }

  /** Resolves when every end is stored, refused, or known to be late. Never rejects. */
  async write(finishes: readonly PendingFinish[]): Promise<void> {
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
    const ids = await this.#storeWithRetry(transition, sorted);
    const stored = sorted.filter(({ job }) => ids.has(job.claimed.id));
    if (stored.length > 0) this.#options.listener.onFinished(transition, stored);
    if (stored.length === sorted.length) return;
    const missing = sorted.filter(({ job }) => !ids.has(job.claimed.id));
    await this.#settleMissing(transition, missing);
  }

  /** A job that was not there to be moved was moved by a call without an answer, has a cancel request, or is lost. */
  async #settleMissing(
    transition: Decision['transition'],
    all: readonly PendingFinish[],
  ): Promise<void> {
    const ids = await this.#findStored(all);
    const stored = all.filter(({ job }) => ids.has(job.claimed.id));
    if (stored.length > 0) this.#options.listener.onFinished(transition, stored);
    const missing = all.filter(({ job }) => !ids.has(job.claimed.id));
    if (missing.length === 0) return;
    const abandoned =
      transition === 'complete_jobs' || transition === 'abandon_jobs'
        ? new Set<string>()
        : await this.#storeWithRetry('abandon_jobs', missing);
    for (const finish of missing) {
      if (abandoned.has(finish.job.claimed.id)) {
        this.#options.listener.onFinished('abandon_jobs', [finish]);
        continue;
      }
      this.#options.listener.onLate(finish);
      await this.#recordLate(finish);
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
        await this.#pause(tries);
      }
    }
  }

  async #findStored(finishes: readonly PendingFinish[]): Promise<ReadonlySet<string>> {
    const { lane, projectId, workerId, logger } = this.#options;
    const jobs = finishes.map(({ job }) => job.claimed);
    for (let tries = 1; ; tries += 1) {
      try {
        return await findStoredEnds(lane, { projectId, workerId, jobs });
      } catch (error) {
        logger.warn({ err: error, tries }, 'look-up of job ends failed');
        if (!isTransientError(error)) return new Set();
        await this.#pause(tries);
      }
    }
  }

  #pause(tries: number): Promise<void> {
    return this.#options.clock.sleep(Math.random() * Math.min(retryCapMs, 50 * 2 ** tries));
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

  async #recordLate(finish: PendingFinish): Promise<void> {
    const { lane, projectId, workerId, logger } = this.#options;
    try {
      await recordLateResult(lane, { projectId, workerId, job: toFinished(finish) });
    } catch (error) {
      logger.warn({ err: error }, 'write of late result failed');
    }
  }
}

const refusedResult = JSON.stringify({
  holdfast: 'result_unserialisable',
  message: 'JSON that the database refused',
});

/** The end as its statement takes it, with times counted back from now. */
export function toFinished({ job, decision }: PendingFinish): FinishedJob {
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
