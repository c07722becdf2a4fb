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

  constructor(delayMs: number, reason: string | undefined) {
    this.delayMs = delayMs;
    this.reason = reason;
  }
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
  readonly metadata: unknown;
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
}

/**
 * Runs one job. Its result is stored as JSON. Throwing fails the attempt; `NonRetryableError` ends the job in the dead
 * letters at once, and `RetryableError` may say how long to wait.
 */
export type JobHandler = (payload: unknown, context: JobContext) => unknown;
