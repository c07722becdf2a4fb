import { parseDurationMs } from '@holdfast/domain';
import { asText, storableCut } from './safe-json.ts';
import type { Stored } from './stored.ts';

/** Writes to the log of this execution: stored with it, capped, fenced by the lease. */
export interface JobLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What `context.release(…)` gives; a handler returns it to run later without using up an attempt. */
export class Release {
  readonly delayMs: number;
  readonly reason: string | undefined;
  /** Only for the compiler, which would take a result of the same shape for a release; never set. */
  declare readonly '~release': true;

  constructor(delayMs: number, reason: string | undefined) {
    this.delayMs = delayMs;
    this.reason = reason;
  }
}

/**
 * What `context.release` gives.
 *
 * @throws TypeError when the text is no duration.
 */
export function toRelease(delay: string | number, reason: unknown): Release {
  const delayMs = typeof delay === 'number' ? delay : parseDurationMs(delay);
  if (delayMs === undefined) throw new TypeError(`"${String(delay)}" is not a duration`);
  return new Release(delayMs, reason === undefined ? undefined : storableCut(asText(reason), 500));
}

/** The job as its handler sees it. */
export interface JobInfo {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly projectId: string;
  /** Rises with every execution of this job: a fencing token for systems downstream. */
  readonly executionSeq: number;
  readonly createdAt: Date;
  readonly maxAttempts: number;
  readonly tags: readonly string[];
  /** What it was enqueued with; `undefined` when that was nothing. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** The batch, chain or graph that it is a member or a callback of. */
  readonly batchId: string | undefined;
  /** Which version of its shape the payload has; 1 for jobs that say nothing of versions. */
  readonly payloadVersion: number;
}

/** What a handler is given beside the payload. */
export interface JobContext {
  readonly job: JobInfo;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * Aborts on timeout, cancel, drain and when the lease is lost; `signal.reason` says which by its `code`. What a
   * handler does after the lease is lost counts for nothing.
   */
  readonly signal: AbortSignal;
  readonly log: JobLog;
  /** Reports how far the handler is, 0 to 100, with a note for people. */
  progress(percent: number, note?: string): void;
  /**
   * To be returned: `return context.release('1m', 'rate limited')` runs the job later without using up an attempt.
   *
   * @param delay milliseconds, or a duration such as `"30s"`.
   * @throws TypeError when the text is no duration.
   */
  release(delay: string | number, reason?: string): Release;
  /**
   * Runs `run` in a transaction that completes the job as well: what it writes through `tx` and the end of the job are
   * committed together, or neither is. What `run` gives is the job's result. When `run` throws, all is rolled back and
   * the transaction may be tried again. After the commit the job is completed, whatever the handler does or logs then.
   *
   * @throws LeaseLostError when the worker's lease is gone; then nothing was written.
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the worker's opener decides what it is
  transaction<Tx, Result>(run: (tx: Tx) => Promise<Result>): Promise<Result>;
  /**
   * Makes sure, inside a transaction of the handler's own, that the lease holds until the transaction has ended. The
   * lease is not extended meanwhile: call it last, or keep the transaction shorter than a lease.
   *
   * @throws LeaseLostError when the lease is gone.
   */
  assertLease(tx: unknown): Promise<void>;
  /**
   * A step whose result is kept: a later execution of the job is given it and does not run the step again. What it gives
   * has been through JSON. Names are the job's own, each used once in an execution; a replay begins without steps.
   *
   * @param name 1 to 200 characters.
   */
  step<Result>(name: string, run: () => Result | Promise<Result>): Promise<Stored<Result>>;
}

/**
 * Runs one job. Its result is stored as JSON. Throwing fails the attempt; `NonRetryableError` ends the job in the dead
 * letters at once, and `RetryableError` may say how long to wait.
 */
export type JobHandler = (payload: unknown, context: JobContext) => unknown;
