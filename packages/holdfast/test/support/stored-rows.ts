import pg from 'pg';

/** A job's row, as PostgreSQL has it. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** Reads the rows of `holdfast.jobs`, by id. */
export async function readRows(url: string, ids: readonly string[]): Promise<readonly StoredRow[]> {
  const rows = await query(
    url,
    `select j.*, j.payload::text as payload_text, q.name as queue_name,
       extract(epoch from j.run_at - j.created_at)::float8 * 1000 as delay_ms
     from holdfast.jobs as j join holdfast.queues as q on q.id = j.queue_id
     where j.id = any ($1) order by array_position($1, j.id)`,
    [ids],
  );
  return rows;
}

/** How many jobs there are, ended ones too. */
export async function countJobs(url: string): Promise<number> {
  const [row] = await query(url, 'select count(*)::integer as n from holdfast.all_jobs', []);
  return Number(row?.['n']);
}

/** Runs a statement on a connection of its own. */
export async function query(
  url: string,
  text: string,
  values: readonly unknown[],
): Promise<readonly StoredRow[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<StoredRow>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
