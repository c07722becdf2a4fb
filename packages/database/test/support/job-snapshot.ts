import type { Queryable, Statement } from '@holdfast/database';
import type { ExecutionStatus, JobStatus } from '@holdfast/domain';

/** Which job. */
interface Key {
  readonly projectId: string;
  readonly id: string;
}

/** The columns that the tests compare; the whole row is there too. */
export interface StoredJob {
  readonly status: JobStatus;
  readonly attempt: number;
  readonly crash_count: number;
  readonly execution_seq: number;
  readonly release_count: number;
  readonly generation: number;
  readonly seq: number | null;
  readonly reason: string | null;
  readonly lease_token: string | null;
  readonly worker_id: string | null;
  readonly run_at: string;
  readonly finished_at: string | null;
  readonly lock_expires_at: string | null;
  readonly cancel_requested_at: string | null;
  readonly progress: unknown;
  readonly result: unknown;
  readonly [column: string]: unknown;
}

/** One appended execution. */
export interface StoredExecution {
  readonly execution_seq: number;
  readonly attempt: number;
  readonly status: ExecutionStatus;
  readonly reason: string | null;
  readonly lease_lost_at: string | null;
  readonly finished_at: string | null;
  readonly next_delay_ms: number | null;
  readonly [column: string]: unknown;
}

/** Everything that is stored about one job. */
export interface JobSnapshot {
  readonly jobs: readonly StoredJob[];
  readonly history: readonly StoredJob[];
  readonly executions: readonly StoredExecution[];
}

const readSnapshot: Statement = {
  name: 'test_read_snapshot',
  text: `select
    coalesce((select jsonb_agg(to_jsonb(j)) from holdfast.jobs as j where j.project_id = $1 and j.id = $2), '[]')
      as jobs,
    coalesce((select jsonb_agg(to_jsonb(h)) from holdfast.job_history as h where h.project_id = $1 and h.id = $2), '[]')
      as history,
    coalesce((
      select jsonb_agg(to_jsonb(e) order by e.execution_seq)
      from holdfast.job_executions as e where e.project_id = $1 and e.job_id = $2
    ), '[]') as executions`,
};

/** Reads every row about the job, with all columns. */
export async function takeSnapshot(db: Queryable, { projectId, id }: Key): Promise<JobSnapshot> {
  const [row] = await db.query<JobSnapshot>(readSnapshot, [projectId, id]);
  if (row === undefined) throw new Error('The snapshot gave no row');
  return row;
}

/** The one row of the job, hot or in history. */
export function onlyRow({ jobs, history }: JobSnapshot): StoredJob {
  const [row, ...more] = [...jobs, ...history];
  if (row === undefined || more.length > 0) {
    throw new Error(`Expected one row of the job, found ${String(jobs.length + history.length)}`);
  }
  return row;
}

/** The status of the job, or `absent`. */
export async function statusOf(db: Queryable, key: Key): Promise<JobStatus | 'absent'> {
  const found = await takeSnapshot(db, key);
  return found.jobs.length + found.history.length === 0 ? 'absent' : onlyRow(found).status;
}
