import type { AttemptOutcome } from '@holdfast/domain';
import type { ClaimedJob, Lease } from '@holdfast/database';

/** Why a handler's signal was aborted; `stray_error`: an error of its own that nobody caught has ended the attempt. */
export type AbortCause = 'timeout' | 'cancel' | 'shutdown' | 'lease_lost' | 'stray_error';

/** A transaction of the handler's own that ends the job as well. */
export interface OwnTransaction {
  /** `open`: the handler's function runs. `ending`: the end is written, and its commit is not known. */
  state: 'open' | 'ending' | 'committed';
  /** What the job's result is, from `ending` on. */
  resultJson: string | undefined;
  /** Resolves when nothing more will happen. */
  readonly settled: Promise<void>;
}

/** A job that this worker holds a lease on, from the claim until its end is written. */
export interface HeldJob {
  readonly claimed: ClaimedJob;
  readonly queueName: string;
  /** Monotonic; taken before the call that claimed it. */
  readonly claimedAtMs: number;
  /** When the lease was last confirmed, by the monotonic clock; taken before the call that confirmed it. */
  confirmedAtMs: number;
  /** 0 until the handler starts; monotonic. */
  startedAtMs: number;
  finishedAtMs: number;
  /** Whether the start is written, or need not be any more. */
  startReported: boolean;
  /** Made when the handler first asks for its signal, or when there is a reason to abort. */
  controller: AbortController | undefined;
  abortCause: AbortCause | undefined;
  /** The database said that the lease is gone. */
  lost: boolean;
  /** Ends the attempt; further calls change nothing. Set while the handler runs. */
  settle: ((outcome: AttemptOutcome) => void) | undefined;
  /** Of the timeout, and after it of the grace. */
  timer: NodeJS.Timeout | undefined;
  logLines: number;
  logBytes: number;
  /** Set while one is under way, and after its commit. */
  transaction: OwnTransaction | undefined;
  /** A transaction of the handler's locks the job's row: no heartbeat extends the lease, and nobody can take it away. */
  isRowLocked: boolean;
}

/** A freshly claimed job. */
export function holdJob(claimed: ClaimedJob, queueName: string, confirmedAtMs: number): HeldJob {
  return {
    claimed,
    queueName,
    claimedAtMs: confirmedAtMs,
    confirmedAtMs,
    startedAtMs: 0,
    finishedAtMs: 0,
    startReported: false,
    controller: undefined,
    abortCause: undefined,
    lost: false,
    settle: undefined,
    timer: undefined,
    logLines: 0,
    logBytes: 0,
    transaction: undefined,
    isRowLocked: false,
  };
}

/** The fence of every write about the job. */
export function leaseOf({ claimed }: HeldJob): Lease {
  return { id: claimed.id, token: claimed.leaseToken };
}

/** Whether the job's end is written in a transaction of the handler's own, committed or about to be. */
export function isEndedByHandler({ transaction }: HeldJob): boolean {
  return transaction !== undefined && transaction.state !== 'open';
}

/** Whether the job took a worker down before: it runs alone in the quarantine slot. */
export function isSuspect(job: HeldJob): boolean {
  return job.claimed.crashCount > 0;
}

/** The job's abort controller. */
export function controllerOf(job: HeldJob): AbortController {
  job.controller ??= new AbortController();
  return job.controller;
}

/** Aborts the handler's signal, once. */
export function abortJob(job: HeldJob, cause: AbortCause, reason: Error): void {
  if (job.abortCause !== undefined) return;
  job.abortCause = cause;
  controllerOf(job).abort(reason);
}

/** The order in which rows are locked, so that two writes cannot lock each other out. */
export function byJobId(a: HeldJob, b: HeldJob): number {
  return a.claimed.id < b.claimed.id ? -1 : 1;
}
