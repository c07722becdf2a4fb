import { listExecutions, listJobLogs, readJobStatus } from '@holdfast/database';
import type { ExecutionRow, LogLineRow } from '@holdfast/database';
import { JobNotFoundError } from '@holdfast/domain';
import type { AttemptError, ExecutionStatus } from '@holdfast/domain';
import { OptionCheck } from './check-options.ts';
import type { OpenConnection } from './connection.ts';
import type { Internals } from './internals.ts';
import { requireId } from './job-calls.ts';

/**
 * One run of a job, from its claim to its end. An interrupted one keeps the status `running` and has no `finishedAt`;
 * `leaseLostAt` says since when.
 *
 * @since 0.1.0
 */
export interface Execution {
  /** 1 for the first; releases and returns count as well. */
  readonly seq: number;
  readonly attempt: number;
  readonly generation: number;
  readonly status: ExecutionStatus;
  readonly workerId: string | undefined;
  readonly claimedAt: Date;
  readonly startedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
  readonly leaseLostAt: Date | undefined;
  /** From its start to its end. */
  readonly durationMs: number | undefined;
  readonly error: AttemptError | undefined;
  /** How long the job waits before its next run. */
  readonly nextDelayMs: number | undefined;
  /** Why it ended, as a code. */
  readonly reason: string | undefined;
}

/**
 * A line that a handler logged.
 *
 * @since 0.1.0
 */
export interface LogLine {
  /** The `seq` of the execution. */
  readonly executionSeq: number;
  /** Its number within the execution. */
  readonly line: number;
  readonly at: Date;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Which lines are read.
 *
 * @since 0.1.0
 */
export interface ListLogsOptions {
  /** Those of one execution, by its `seq`; default: of all. */
  readonly execution?: number | undefined;
  /** At most 200, which is the default. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/**
 * A page of log lines.
 *
 * @since 0.1.0
 */
export interface LogPage {
  readonly lines: readonly LogLine[];
  /** For the next page; `undefined` when there is none. */
  readonly nextCursor: string | undefined;
}

/**
 * Reads every run of a job, oldest first.
 *
 * @throws JobNotFoundError, OptionsInvalidError
 */
export async function listExecutionsOf(
  { connection }: Internals,
  id: string,
): Promise<readonly Execution[]> {
  requireId('executions', id);
  return connection.useWithRetry(async (open) => {
    const { database, projectId } = open;
    const rows = await listExecutions(database, { projectId, id });
    if (rows.length === 0) await requireJob(open, id);
    return rows.map(toExecution);
  });
}

/**
 * Reads what the handlers of a job logged, oldest first and a page at a time.
 *
 * @throws JobNotFoundError, OptionsInvalidError
 */
export async function listLogsOf(
  { connection }: Internals,
  request: { readonly id: string; readonly options: ListLogsOptions },
): Promise<LogPage> {
  const { id, options } = request;
  requireId('logs', id);
  const { limit, ...scope } = readOptions(options);
  return connection.useWithRetry(async (open) => {
    const { database, projectId } = open;
    // One more tells whether there is a next page.
    const rows = await listJobLogs(database, { projectId, id, ...scope, limit: limit + 1 });
    if (rows.length === 0) await requireJob(open, id);
    const lines = rows.slice(0, limit).map(toLogLine);
    const last = rows.length > limit ? lines.at(-1) : undefined;
    return { lines, nextCursor: last && writeCursor(last) };
  });
}

const maxLimit = 200;
const maxSeq = 2_147_483_647;

function readOptions(options: ListLogsOptions) {
  const check = new OptionCheck('logs');
  if (!check.names(options, ['execution', 'limit', 'cursor'])) check.done();
  const executionSeq = check.whole('execution', options.execution, { min: 1, max: maxSeq });
  const limit = check.whole('limit', options.limit, { min: 1, max: maxLimit }) ?? maxLimit;
  const after = readCursor(check, options.cursor);
  check.done();
  return { executionSeq, limit, after };
}

type Position = Pick<LogLine, 'executionSeq' | 'line'>;

const cursorForm = /^logs:(\d{1,9}):(\d{1,9})$/;

function readCursor(check: OptionCheck, cursor: unknown): Position | undefined {
  if (cursor === undefined) return undefined;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const [, executionSeq, line] = cursorForm.exec(text) ?? [];
  if (executionSeq === undefined) check.refuse('cursor must be the nextCursor of a page before');
  return { executionSeq: Number(executionSeq), line: Number(line) };
}

function writeCursor({ executionSeq, line }: Position): string {
  return Buffer.from(`logs:${String(executionSeq)}:${String(line)}`).toString('base64url');
}

async function requireJob({ database, projectId }: OpenConnection, id: string): Promise<void> {
  const status = await readJobStatus(database, { projectId, id });
  if (status === undefined) throw new JobNotFoundError(id);
}

function toExecution(row: ExecutionRow): Execution {
  return {
    seq: row.execution_seq,
    attempt: row.attempt,
    generation: row.generation,
    status: row.status,
    workerId: row.worker_id ?? undefined,
    claimedAt: row.claimed_at,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    leaseLostAt: row.lease_lost_at ?? undefined,
    durationMs: row.duration_ms ?? undefined,
    error: row.error ?? undefined,
    nextDelayMs: row.next_delay_ms === null ? undefined : Number(row.next_delay_ms),
    reason: row.reason ?? undefined,
  };
}

function toLogLine(row: LogLineRow): LogLine {
  const { execution_seq: executionSeq, line, logged_at: at, level, message, fields } = row;
  return { executionSeq, line, at, level, message, fields: fields ?? undefined };
}
