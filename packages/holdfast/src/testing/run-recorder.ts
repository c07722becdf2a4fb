import type { JobStatus } from '@holdfast/domain';
import type { HoldfastEvent, HoldfastEvents, HoldfastListener } from '../event-map.ts';
import type { Holdfast } from '../holdfast.ts';
import type { RunMiddleware } from '../run-middleware.ts';

/** How a run ended: `released` ran `ctx.release`, and `cancelled` was cancelled while it ran. */
export type RunOutcome = 'completed' | 'failed' | 'timed_out' | 'released' | 'cancelled';

/** One run of a handler. */
export interface JobRun {
  /** The id of its job. */
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly outcome: RunOutcome;
  /** What the handler threw, itself; for a timeout, the stored error. */
  readonly error: unknown;
  /** What the job was when the drain had ended; `scheduled` when it will be tried again. */
  readonly status: JobStatus;
}

type Attempt = HoldfastEvents['JobProcessing'];

/** Notes what the workers of a `Holdfast` run, in the order in which it ended. */
export class RunRecorder<Tx> {
  readonly #runs: Omit<JobRun, 'status'>[] = [];
  readonly #open = new Map<string, Attempt>();
  readonly #thrown = new Map<string, unknown>();
  readonly #endings: (() => void)[];
  #worker: HoldfastEvents['WorkerStarted'] | undefined;

  constructor(holdfast: Holdfast<Tx>) {
    const on = <Event extends HoldfastEvent>(event: Event, listen: HoldfastListener<Event>) =>
      holdfast.on(event, listen);
    this.#endings = [
      on('WorkerStarted', (started) => {
        this.#worker = started;
      }),
      on('JobProcessing', (attempt) => {
        this.#open.set(attempt.jobId, attempt);
      }),
      on('JobProcessed', ({ jobId }) => {
        this.#end(jobId, 'completed');
      }),
      on('JobReleased', ({ jobId }) => {
        this.#end(jobId, 'released');
      }),
      on('JobExceptionOccurred', ({ jobId, error }) => {
        this.#end(jobId, 'failed', error);
      }),
      on('JobTimedOut', ({ jobId, error }) => {
        this.#end(jobId, 'timed_out', error);
      }),
      // One that was not run fails for no reason of its handler.
      on('JobFailed', ({ jobId, error }) => {
        this.#end(jobId, 'failed', error);
      }),
      on('JobCancelled', ({ jobId }) => {
        this.#end(jobId, 'cancelled');
      }),
    ];
  }

  /** The worker that was started last. */
  get worker(): HoldfastEvents['WorkerStarted'] {
    if (this.#worker === undefined) throw new TypeError('No worker has started');
    return this.#worker;
  }

  /** What has ended so far. */
  get runs(): readonly Omit<JobRun, 'status'>[] {
    return this.#runs;
  }

  /** Keeps what handlers throw, which nobody else sees. */
  readonly middleware: RunMiddleware<Tx> = async ({ ctx }, next) => {
    try {
      return await next();
    } catch (error) {
      this.#thrown.set(ctx.job.id, error);
      throw error;
    }
  };

  /** Ends the noting. */
  stop(): void {
    for (const end of this.#endings) end();
  }

  #end(jobId: string, outcome: RunOutcome, stored?: unknown): void {
    const attempt = this.#open.get(jobId);
    // Ended before it ran, or told of already.
    if (attempt === undefined) return;
    this.#open.delete(jobId);
    const hasThrown = this.#thrown.has(jobId) && outcome === 'failed';
    const error = hasThrown ? this.#thrown.get(jobId) : stored;
    this.#thrown.delete(jobId);
    const { type, queue, attempt: number } = attempt;
    this.#runs.push({ id: jobId, type, queue, attempt: number, outcome, error });
  }
}
