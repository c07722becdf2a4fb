import type { Database, Statement } from '@holdfast/database';

const read: Statement = {
  name: 'test_read_stored_jobs',
  text: `select to_jsonb(j) - array['id', 'seq', 'created_at', 'run_at'] as settings,
      extract(epoch from j.run_at - j.created_at)::double precision * 1000 as wait_ms, j.run_at::text as run_at
    from unnest($1::uuid[]) with ordinality as n (id, position)
    join holdfast.jobs as j on j.id = n.id
    order by n.position`,
};

/** What is stored about a job that was enqueued, apart from what differs for every job. */
export interface StoredSettings {
  readonly settings: Readonly<Record<string, unknown>>;
  /** From the insert to when it is due. */
  readonly wait_ms: number;
  readonly run_at: string;
}

/** Reads the rows of the ids, in the order of the ids. */
export function readStoredJobs(
  db: Database,
  ids: readonly string[],
): Promise<readonly StoredSettings[]> {
  return db.query<StoredSettings>(read, [`{${ids.join(',')}}`]);
}
