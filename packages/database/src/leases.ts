import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** One held lease: the fence of every write about the job. */
export interface Lease {
  readonly id: string;
  readonly token: string;
}

/** What a heartbeat says about one lease. */
export interface LeaseState {
  readonly id: string;
  /** False also when the row was locked by another statement at that moment; the next beat tries again. */
  readonly extended: boolean;
  /** The lease is gone: another execution, or none, has the job. */
  readonly lost: boolean;
  readonly cancelRequested: boolean;
}

/** Extends the named leases by `leaseMs` from now, by the database clock, and tells how each stands. */
export async function extendLeases(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly leases: readonly Lease[];
    readonly leaseMs: number;
  },
): Promise<readonly LeaseState[]> {
  const { leases } = request;
  if (leases.length === 0) return [];
  const rows = await db.query<{
    readonly id: string;
    readonly extended: boolean;
    readonly lost: boolean;
    readonly cancel_requested: boolean;
  }>(statements.extendLeases, [
    request.projectId,
    plainArray(leases.map((lease) => lease.id)),
    plainArray(leases.map((lease) => lease.token)),
    request.leaseMs,
  ]);
  return rows.map(({ cancel_requested, ...row }) => ({
    ...row,
    cancelRequested: cancel_requested,
  }));
}

/**
 * Whether the lease holds at this moment.
 *
 * @returns `undefined` when it is lost; else whether the transaction of `db` sees one snapshot from now on, so that any
 *   change of the row by somebody else will make its own change fail (SQLSTATE 40001).
 */
export async function checkLease(
  db: Queryable,
  request: { readonly projectId: string; readonly lease: Lease },
): Promise<{ readonly seesSnapshot: boolean } | undefined> {
  const { projectId, lease } = request;
  const [row] = await db.query<{ readonly isolation: string }>(statements.checkLease, [
    projectId,
    lease.id,
    lease.token,
  ]);
  return row && { seesSnapshot: !row.isolation.startsWith('read') };
}

/**
 * Whether the lease holds; if so, nobody takes it away before the transaction of `db` ends. Waits for a transaction that
 * is ending the job. Heartbeats cannot extend the lease meanwhile.
 */
export async function lockLease(
  db: Queryable,
  request: { readonly projectId: string; readonly lease: Lease },
): Promise<boolean> {
  const { projectId, lease } = request;
  const rows = await db.query(statements.lockLease, [projectId, lease.id, lease.token]);
  return rows.length > 0;
}

/** A start to report. */
export interface StartedJob extends Lease {
  readonly startedAgoMs: number;
}

/** Reports handlers that started; answers the ids whose lease still held. */
export async function startJobs(
  db: Queryable,
  request: { readonly projectId: string; readonly started: readonly StartedJob[] },
): Promise<ReadonlySet<string>> {
  const { started } = request;
  const rows = await db.query<{ readonly id: string }>(statements.startJobs, [
    request.projectId,
    plainArray(started.map((job) => job.id)),
    plainArray(started.map((job) => job.token)),
    plainArray(started.map((job) => job.startedAgoMs)),
  ]);
  return new Set(rows.map((row) => row.id));
}

/** Stores progress; a lost lease stores nothing. */
export async function recordProgress(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly progress: readonly (Lease & { readonly progressJson: string })[];
  },
): Promise<void> {
  const { progress } = request;
  await db.query(statements.recordProgress, [
    request.projectId,
    plainArray(progress.map((entry) => entry.id)),
    plainArray(progress.map((entry) => entry.token)),
    textArray(progress.map((entry) => entry.progressJson)),
  ]);
}

/** One log line of an execution. */
export interface LogLine extends Lease {
  readonly agoMs: number;
  /** Its number within the execution, from 1. */
  readonly line: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fieldsJson: string | undefined;
}

/** Stores log lines; those of a lost lease are dropped. */
export async function appendLogs(
  db: Queryable,
  request: { readonly projectId: string; readonly lines: readonly LogLine[] },
): Promise<void> {
  const { lines } = request;
  await db.query(statements.appendLogs, [
    request.projectId,
    plainArray(lines.map((line) => line.id)),
    plainArray(lines.map((line) => line.token)),
    plainArray(lines.map((line) => line.agoMs)),
    plainArray(lines.map((line) => line.line)),
    plainArray(lines.map((line) => line.level)),
    textArray(lines.map((line) => line.message)),
    textArray(lines.map((line) => line.fieldsJson)),
  ]);
}
