import { leasedStatuses, readStoredRetry } from '@holdfast/domain';
import type { AttemptError, ExecutionStatus, JobStatus, RetryPolicy } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { UniqueLock } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import type { Statement } from './generated/statements.ts';
import type { Queryable, SqlValue } from './queryable.ts';

/** Which job. */
export interface JobKey {
  readonly projectId: string;
  readonly id: string;
}

/** A job as it is in lists, without payload and result. */
export interface JobSummaryRow {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly crash_count: number;
  readonly release_count: number;
  readonly execution_seq: number;
  readonly generation: number;
  readonly pending_parents: number;
  readonly timeout_ms: number;
  readonly retry: RetryPolicy | null;
  readonly tags: readonly string[] | null;
  readonly reason: string | null;
  readonly created_at: Date;
  readonly run_at: Date | null;
  readonly claimed_at: Date | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly cancel_requested_at: Date | null;
  readonly lock_expires_at: Date | null;
  readonly worker_id: string | null;
  readonly schedule_id: string | null;
  readonly batch_id: string | null;
  readonly start_deadline_at: Date | null;
  /** The key that it holds or held. */
  readonly unique_lock: UniqueLock | null;
  readonly last_error: AttemptError | null;
  readonly progress: unknown;
  /** Which shape the payload has. */
  readonly payload_version: number;
}

/** A job with everything. */
export interface JobRow extends JobSummaryRow {
  readonly payload: unknown;
  readonly result: unknown;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** One job, wherever it is kept. */
export async function readJob(db: Queryable, job: JobKey): Promise<JobRow | undefined> {
  const [row] = await db.query<JobRow>(statements.readJob, [job.projectId, job.id]);
  return row && withWholeRetry(row);
}

/** Somebody may have written the policy in SQL, and left parts of it out. */
function withWholeRetry<Row extends JobSummaryRow>(row: Row): Row {
  return row.retry === null ? row : { ...row, retry: readStoredRetry(row.retry) };
}

/** The status of one job. */
export async function readJobStatus(db: Queryable, job: JobKey): Promise<JobStatus | undefined> {
  const values = [job.projectId, job.id];
  const [row] = await db.query<{ status: JobStatus }>(statements.lookUpJobStatus, values);
  return row?.status;
}

/** A page of jobs, newest first. */
export interface JobListRequest {
  readonly projectId: string;
  readonly beforeId?: string | undefined;
  readonly limit: number;
  readonly queueId?: string | undefined;
  readonly statuses?: readonly JobStatus[] | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly batchId?: string | undefined;
  /** Jobs that hold or held a unique key of this text, in whichever scope. */
  readonly uniqueKey?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  /** JSON text of an object that the payload must contain. */
  readonly payloadContains?: string | undefined;
  /** Text that must be somewhere in the payload's JSON. */
  readonly payloadText?: string | undefined;
}

/** Jobs by filter, newest first. */
export async function listJobs(
  db: Queryable,
  request: JobListRequest,
): Promise<readonly JobSummaryRow[]> {
  const [statement, values] = listQuery(request);
  return (await db.query<JobSummaryRow>(statement, values)).map(withWholeRetry);
}

function listQuery(request: JobListRequest): readonly [Statement, readonly SqlValue[]] {
  const { statuses, batchId, uniqueKey } = request;
  const values = filterValues(request);
  if (uniqueKey !== undefined) {
    return [statements.listJobsOfKey, [...values, uniqueKey, batchId ?? null]];
  }
  if (batchId !== undefined) return [statements.listJobsOfBatch, [...values, batchId]];
  return [listStatement(statuses), values];
}

function filterValues(request: JobListRequest): readonly SqlValue[] {
  const { statuses } = request;
  return [
    request.projectId,
    request.beforeId ?? null,
    request.limit,
    request.queueId ?? null,
    statuses === undefined ? null : plainArray(statuses),
    request.type ?? null,
    request.tag ?? null,
    request.createdAfter ?? null,
    request.createdBefore ?? null,
    request.payloadContains ?? null,
    request.payloadText ?? null,
  ];
}

const restingStatuses: readonly JobStatus[] = ['failed', 'dead_letter'];

// A partial index serves a statement only when the statement itself names the statuses.
function listStatement(statuses: readonly JobStatus[] | undefined): Statement {
  const areAll = (among: readonly JobStatus[]): boolean =>
    statuses?.every((status) => among.includes(status)) === true;
  if (areAll(leasedStatuses)) return statements.listLeasedJobs;
  // Retired dead letters are history; the list of dead letters proper is `listDeadLetters`.
  if (areAll(restingStatuses)) return statements.listRestingJobs;
  if (areAll(['queued', 'scheduled', ...leasedStatuses, 'failed'])) return statements.listLiveJobs;
  return statements.listJobs;
}

/** A page of dead letters, those that ended last first. */
export interface DeadLetterListRequest {
  readonly projectId: string;
  readonly limit: number;
  readonly before?: { readonly finishedAt: string; readonly id: string } | undefined;
  readonly queueId?: string | undefined;
  readonly type?: string | undefined;
  readonly fingerprint?: string | undefined;
}

/** A dead letter; `finished_at_text` is exact, for the next page. */
export interface DeadLetterRow extends JobSummaryRow {
  readonly finished_at_text: string;
}

/** Dead letters by filter. */
export async function listDeadLetters(
  db: Queryable,
  request: DeadLetterListRequest,
): Promise<readonly DeadLetterRow[]> {
  const values: SqlValue[] = [
    request.projectId,
    request.limit,
    request.before?.finishedAt ?? null,
    request.before?.id ?? null,
    request.queueId ?? null,
    request.type ?? null,
    request.fingerprint ?? null,
  ];
  const rows = await db.query<DeadLetterRow>(statements.listDeadLetters, values);
  return rows.map(withWholeRetry);
}

/** Dead letters whose last errors are alike. */
export interface DeadLetterGroupRow {
  readonly fingerprint: string | null;
  readonly type: string;
  readonly queue: string;
  readonly code: string | null;
  readonly message: string | null;
  readonly job_count: number;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
  readonly sample_job_id: string;
}

/** Groups of dead letters, the largest first. */
export async function listDeadLetterGroups(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly queueId?: string | undefined;
    readonly type?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly DeadLetterGroupRow[]> {
  const { projectId, queueId, type, limit } = request;
  const values = [projectId, queueId ?? null, type ?? null, limit];
  return db.query<DeadLetterGroupRow>(statements.listDeadLetterGroups, values);
}

/** One run of a job. */
export interface ExecutionRow {
  readonly execution_seq: number;
  readonly attempt: number;
  readonly generation: number;
  readonly status: ExecutionStatus;
  readonly worker_id: string | null;
  readonly claimed_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly lease_lost_at: Date | null;
  /** A bigint as text. */
  readonly next_delay_ms: string | null;
  readonly reason: string | null;
  readonly error: AttemptError | null;
  readonly duration_ms: number | null;
}

/** Every run of a job, oldest first. */
export async function listExecutions(db: Queryable, job: JobKey): Promise<readonly ExecutionRow[]> {
  return db.query<ExecutionRow>(statements.listExecutions, [job.projectId, job.id]);
}

/** A page of a job's log lines. */
export interface LogListRequest extends JobKey {
  readonly executionSeq?: number | undefined;
  readonly after?: { readonly executionSeq: number; readonly line: number } | undefined;
  readonly limit: number;
}

/** One log line. */
export interface LogLineRow {
  readonly execution_seq: number;
  readonly line: number;
  readonly logged_at: Date;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** A job's log lines, oldest first. */
export async function listJobLogs(
  db: Queryable,
  request: LogListRequest,
): Promise<readonly LogLineRow[]> {
  const { after } = request;
  return db.query<LogLineRow>(statements.listJobLogs, [
    request.projectId,
    request.id,
    request.executionSeq ?? null,
    after?.executionSeq ?? 0,
    after?.line ?? -1,
    request.limit,
  ]);
}
