import type { JobStatus } from '@holdfast/domain';
import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** Lets time pass in a database that a test owns: moves every stored instant back that is not bound to the calendar. */
export async function passTime(db: Queryable, passedMs: number): Promise<void> {
  await db.query(statements.passTime, [passedMs]);
}

/** Whose work is looked at. */
export interface WorkLeftRequest {
  readonly projectId: string;
  /** Named as for a claim. */
  readonly types: readonly string[];
  /** The worker whose held jobs count. */
  readonly workerId: string;
}

/** What keeps a worker from being idle. */
export interface WorkLeft {
  /** Jobs that it could claim, or holds. */
  readonly jobCount: number;
  /** Whether something follows from jobs that have ended. */
  readonly hasEndings: boolean;
  /** Whether events wait to be dispatched. */
  readonly hasEvents: boolean;
}

/** What is left to do, all seen at one moment. */
export async function readWorkLeft(db: Queryable, request: WorkLeftRequest): Promise<WorkLeft> {
  const { projectId, types, workerId } = request;
  const [row] = await db.query<{
    readonly job_count: number;
    readonly has_endings: boolean;
    readonly has_events: boolean;
  }>(statements.readWorkLeft, [projectId, textArray(types), workerId]);
  return {
    jobCount: row?.job_count ?? 0,
    hasEndings: row?.has_endings === true,
    hasEvents: row?.has_events === true,
  };
}

/** A job as tests look at it. */
export interface StoredJobRow {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly status: JobStatus;
  readonly payload: unknown;
  readonly priority: number;
  readonly tags: readonly string[] | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly created_at: Date;
  readonly batch_id: string | null;
  /** Null while it waits for other jobs. */
  readonly run_at: Date | null;
  /** From its creation to `run_at`. */
  readonly delay_ms: number | null;
  readonly unique_key: string | null;
  readonly payload_version: number;
}

/** Every job of a project, ended ones too, oldest first; with `ids`, only those. */
export async function listStoredJobs(
  db: Queryable,
  { projectId, ids }: { readonly projectId: string; readonly ids?: readonly string[] | undefined },
): Promise<readonly StoredJobRow[]> {
  const values = [projectId, ids === undefined ? null : plainArray(ids)];
  return db.query<StoredJobRow>(statements.listStoredJobs, values);
}
