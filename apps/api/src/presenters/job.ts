import type { BulkJobsResult, EnqueuedJob, Job, JobDetail, JobSummary } from '@holdfast/contract';
import type {
  DependencyView,
  ExecutionRow,
  JobOutcome,
  JobRow,
  JobSummaryRow,
  UniqueLock,
} from '@holdfast/database';
import { defaultRetryPolicy, formatDuration, retryEndOf } from '@holdfast/domain';
import { presentBackoff } from './backoff.ts';
import { presentError, presentExecution } from './execution.ts';
import { presentInstant, presentMaybe } from './instant.ts';

/** A job as in lists. */
export function presentJobSummary(row: JobSummaryRow): JobSummary {
  const retry = row.retry ?? defaultRetryPolicy;
  return {
    id: row.id,
    type: row.type,
    payloadVersion: row.payload_version,
    queue: row.queue,
    status: row.status,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    crashCount: row.crash_count,
    releaseCount: row.release_count,
    executionSeq: row.execution_seq,
    generation: row.generation,
    timeout: formatDuration(row.timeout_ms),
    backoff: presentBackoff(retry.backoff),
    retry: retry.mode,
    maxExceptions: retry.maxExceptions ?? null,
    retryUntil: presentMaybe(retryEndOf(retry, row.created_at)),
    startDeadline: presentMaybe(row.start_deadline_at),
    unique: presentUnique(row.unique_lock),
    tags: row.tags ?? [],
    createdAt: presentInstant(row.created_at),
    runAt: presentMaybe(row.run_at),
    claimedAt: presentMaybe(row.claimed_at),
    startedAt: presentMaybe(row.started_at),
    finishedAt: presentMaybe(row.finished_at),
    cancelRequestedAt: presentMaybe(row.cancel_requested_at),
    workerId: row.worker_id,
    lockExpiresAt: presentMaybe(row.lock_expires_at),
    scheduleId: row.schedule_id,
    batchId: row.batch_id,
    lastError: presentError(row.last_error),
    reason: row.reason,
    progress: row.progress ?? null,
    waitingOn: row.pending_parents,
  };
}

/** A job with payload and result. */
export function presentJob(row: JobRow): Job {
  return {
    ...presentJobSummary(row),
    payload: row.payload,
    result: row.result ?? null,
    metadata: row.metadata ?? {},
  };
}

function presentUnique(lock: UniqueLock | null): Job['unique'] {
  return lock === null ? null : { key: lock.key, scope: lock.scope, until: lock.until };
}

/** A job just enqueued, or one that stands for it. */
export function presentEnqueued(row: JobRow, outcome?: JobOutcome): EnqueuedJob {
  return { ...presentJob(row), ...presentConflict(outcome) };
}

/** What became of one job of a bulk request. */
export function presentOutcome(outcome: JobOutcome): BulkJobsResult['data'][number] {
  return { id: outcome.id, status: outcome.status ?? null, ...presentConflict(outcome) };
}

function presentConflict(outcome: JobOutcome | undefined) {
  return {
    deduplicated: outcome?.deduplicated ?? false,
    conflict: outcome?.conflict ?? null,
    holderId: outcome?.holderId ?? null,
  };
}

/** A job with its runs and what it waits for. */
export function presentJobDetail(
  row: JobRow,
  executions: readonly ExecutionRow[],
  parents: readonly DependencyView[],
): JobDetail {
  return {
    ...presentJob(row),
    executions: executions.map(presentExecution),
    parents: parents.map(({ parentId, state, onFailure }) => ({
      ...{ id: parentId, state, onParentFailure: onFailure },
    })),
  };
}
