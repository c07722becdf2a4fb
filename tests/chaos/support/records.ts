import type { Database, SqlValue } from '@holdfast/database';
import type { ExecutionStatus, JobStatus } from '@holdfast/domain';

/** A job as the database has it; both the live table and the history are read. */
export interface RecordedJob {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly executionSeq: number;
  readonly crashCount: number;
  readonly generation: number;
  readonly reason: string | null;
  readonly result: unknown;
  readonly lastError: { readonly code: string; readonly message: string } | null;
}

/** An execution that ended or was interrupted. Times are Unix milliseconds by the database clock. */
export interface RecordedExecution {
  readonly jobId: string;
  readonly executionSeq: number;
  readonly attempt: number;
  readonly generation: number;
  readonly status: ExecutionStatus;
  readonly reason: string | null;
  readonly workerId: string;
  readonly workerPid: number | null;
  readonly recordedAtMs: number;
  readonly claimedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly leaseLostAtMs: number | null;
}

/** What a worker reported after it had lost its lease. */
export interface LateResult {
  readonly jobId: string;
  readonly executionSeq: number;
  readonly status: ExecutionStatus;
  readonly result: unknown;
}

/** Everything that the database says about the jobs of a test. */
export interface Records {
  readonly jobs: readonly RecordedJob[];
  readonly executions: readonly RecordedExecution[];
  readonly lateResults: readonly LateResult[];
}

const jobsSql = `
  select id, type, status, attempt, max_attempts as "maxAttempts", execution_seq as "executionSeq",
    crash_count as "crashCount", generation, reason, result, last_error as "lastError"
  from holdfast.all_jobs order by id`;

const executionsSql = `
  select e.job_id as "jobId", e.execution_seq as "executionSeq", e.attempt, e.generation, e.status, e.reason,
    e.worker_id as "workerId", w.pid as "workerPid",
    ${unixMs('e.recorded_at')} as "recordedAtMs", ${unixMs('e.claimed_at')} as "claimedAtMs",
    ${unixMs('e.started_at')} as "startedAtMs", ${unixMs('e.finished_at')} as "finishedAtMs",
    ${unixMs('e.lease_lost_at')} as "leaseLostAtMs"
  from holdfast.job_executions as e
  left join holdfast.workers as w on w.project_id = e.project_id and w.id = e.worker_id
  order by e.job_id, e.execution_seq, e.recorded_at`;

const lateResultsSql = `
  select job_id as "jobId", execution_seq as "executionSeq", status, result
  from holdfast.job_late_results order by job_id, execution_seq`;

function unixMs(column: string): string {
  return `extract(epoch from ${column})::double precision * 1000`;
}

/** Reads all records. Call it when nothing changes any more: the three lists are read one after the other. */
export async function readRecords(database: Database): Promise<Records> {
  return {
    jobs: await ask<RecordedJob>(database, jobsSql),
    executions: await ask<RecordedExecution>(database, executionsSql),
    lateResults: await ask<LateResult>(database, lateResultsSql),
  };
}

/** Runs a query of a test's own. */
export function ask<Row extends object>(
  database: Database,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly Row[]> {
  // Prepared by name, so each text needs one of its own; PostgreSQL cuts names after 63 characters.
  const name = `chaos_${String(hash(text))}`;
  return database.query<Row>({ name, text }, values);
}

function hash(text: string): number {
  let value = 0;
  for (let index = 0; index < text.length; index += 1) {
    value = (Math.imul(value, 31) + text.charCodeAt(index)) | 0;
  }
  return value;
}
