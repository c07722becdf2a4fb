import type { Execution, LogLine } from '@holdfast/contract';
import type { ExecutionRow, LogLineRow } from '@holdfast/database';
import type { AttemptError } from '@holdfast/domain';
import { presentInstant, presentMaybe } from './instant.ts';

/** An attempt's error as answered. */
export function presentError(error: AttemptError | null): Execution['error'] {
  if (error === null) return null;
  const { code, message, stack, fingerprint } = error;
  return { code, message, stack: stack ?? null, fingerprint };
}

/** One run of a job as answered. */
export function presentExecution(row: ExecutionRow): Execution {
  return {
    seq: row.execution_seq,
    attempt: row.attempt,
    generation: row.generation,
    status: row.status,
    workerId: row.worker_id,
    claimedAt: presentInstant(row.claimed_at),
    startedAt: presentMaybe(row.started_at),
    finishedAt: presentMaybe(row.finished_at),
    leaseLostAt: presentMaybe(row.lease_lost_at),
    durationMs: row.duration_ms,
    error: presentError(row.error),
    nextDelayMs: row.next_delay_ms === null ? null : Number(row.next_delay_ms),
    reason: row.reason,
  };
}

/** A log line as answered. */
export function presentLogLine(row: LogLineRow): LogLine {
  return {
    executionSeq: row.execution_seq,
    line: row.line,
    at: presentInstant(row.logged_at),
    level: row.level,
    message: row.message,
    fields: row.fields,
  };
}
