import { defaultRetryPolicy, retryEndOf } from '@holdfast/domain';
import type {
  AttemptError,
  BackoffPolicy,
  JobStatus,
  RetryMode,
  UniqueScope,
  UniqueUntil,
} from '@holdfast/domain';
import type { JobRow, JobSummaryRow } from '@holdfast/database';

/** The unique key that a job holds or held. */
export interface JobUnique {
  readonly key: string;
  readonly scope: UniqueScope;
  readonly until: UniqueUntil;
}

/** A job as it is in lists. Durations in milliseconds. */
export interface JobSummary {
  readonly id: string;
  readonly type: string;
  /** Which version of its shape the payload has; 1 when nothing was said of it. */
  readonly payloadVersion: number;
  readonly queue: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly executionSeq: number;
  readonly crashCount: number;
  readonly releaseCount: number;
  /** How often it was replayed or retried by hand. */
  readonly generation: number;
  /** For how many jobs it waits. */
  readonly waitingOn: number;
  readonly timeoutMs: number;
  /** `manual`: after a failure it rests in `failed` until a person decides. */
  readonly retry: RetryMode;
  readonly backoff: BackoffPolicy;
  /** No retry begins after it. */
  readonly retryUntil: Date | undefined;
  /** How often its handler may throw; timeouts do not count. */
  readonly maxExceptions: number | undefined;
  readonly tags: readonly string[];
  /** What the handler reported last: `{ percent, note? }`. */
  readonly progress: unknown;
  readonly lastError: AttemptError | undefined;
  /** Why it waits or ended, as a code. */
  readonly reason: string | undefined;
  readonly scheduleId: string | undefined;
  /** The batch, chain or graph that it is a member or a callback of. */
  readonly batchId: string | undefined;
  readonly unique: JobUnique | undefined;
  /** The worker that has it. */
  readonly workerId: string | undefined;
  /** Until when that worker has it, unless it extends that. */
  readonly lockExpiresAt: Date | undefined;
  readonly createdAt: Date;
  readonly runAt: Date | undefined;
  /** The job is cancelled when no worker has claimed it by then. */
  readonly startDeadline: Date | undefined;
  readonly claimedAt: Date | undefined;
  readonly startedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
  readonly cancelRequestedAt: Date | undefined;
}

/** A job as it was when it was read. */
export interface Job<Result = unknown> extends JobSummary {
  readonly payload: unknown;
  /** What the handler gave, through JSON; `undefined` until then, and when it gave nothing. */
  readonly result: Result | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A row as a job. */
export function toJob(row: JobRow): Job {
  const { payload, result, metadata } = row;
  return { ...toJobSummary(row), payload, result: result ?? undefined, metadata: metadata ?? {} };
}

/** A row of a list as a job. */
export function toJobSummary(row: JobSummaryRow): JobSummary {
  return {
    id: row.id,
    type: row.type,
    payloadVersion: row.payload_version,
    queue: row.queue,
    status: row.status,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    executionSeq: row.execution_seq,
    crashCount: row.crash_count,
    releaseCount: row.release_count,
    generation: row.generation,
    waitingOn: row.pending_parents,
    timeoutMs: row.timeout_ms,
    ...retryOf(row),
    tags: row.tags ?? [],
    progress: row.progress ?? undefined,
    lastError: row.last_error ?? undefined,
    reason: row.reason ?? undefined,
    scheduleId: row.schedule_id ?? undefined,
    batchId: row.batch_id ?? undefined,
    unique: uniqueOf(row),
    workerId: row.worker_id ?? undefined,
    lockExpiresAt: row.lock_expires_at ?? undefined,
    ...timesOf(row),
  };
}

function uniqueOf({ unique_lock: lock }: JobSummaryRow): JobUnique | undefined {
  if (lock === null) return undefined;
  const { key, scope, until } = lock;
  return { key, scope, until };
}

function retryOf({ retry, created_at: createdAt }: JobSummaryRow) {
  const policy = retry ?? defaultRetryPolicy;
  const { mode, backoff, maxExceptions } = policy;
  return { retry: mode, backoff, retryUntil: retryEndOf(policy, createdAt), maxExceptions };
}

function timesOf(row: JobSummaryRow) {
  return {
    createdAt: row.created_at,
    runAt: row.run_at ?? undefined,
    startDeadline: row.start_deadline_at ?? undefined,
    claimedAt: row.claimed_at ?? undefined,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    cancelRequestedAt: row.cancel_requested_at ?? undefined,
  };
}
