import { clientConfig, inSchema } from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import pg from 'pg';
import type { Database, Queryable, SessionKind, SqlValue, Statement } from '@holdfast/database';

/** One session whose transactions a test opens and ends by hand. */
export interface HandConnection extends Queryable {
  /** The server's process for this session. */
  readonly pid: number;
  /** Runs SQL without parameters: `begin`, `commit`, settings. */
  run(sql: string): Promise<void>;
  close(): Promise<void>;
}

export interface HandConnectionOptions {
  readonly kind?: SessionKind;
  readonly schema?: string;
}

/** Opens a session with the settings of the given kind, but which waits for a lock as long as a test needs. */
export async function openHandConnection(
  url: string,
  { kind = 'general', schema = 'holdfast' }: HandConnectionOptions = {},
): Promise<HandConnection> {
  const client = new pg.Client(clientConfig({ connectionString: url }, kind));
  client.on('error', () => undefined);
  await client.connect();
  await client.query('set lock_timeout = 0');
  await client.query('set idle_in_transaction_session_timeout = 0');
  await client.query(`set statement_timeout = '60s'`);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    pid: rows[0]?.pid ?? 0,
    async query<Row extends object>(statement: Statement, values: readonly SqlValue[] = []) {
      const text = inSchema(statement.text, schema);
      return (await client.query<Row>({ text, values: [...values] })).rows;
    },
    async run(sql) {
      await client.query(sql);
    },
    close: () => client.end(),
  };
}

const readWait: Statement = {
  name: 'test_read_wait',
  text: `select wait_event_type = 'Lock' as blocked from pg_stat_activity where pid = $1`,
};

/** Resolves when the session waits for a lock that another one holds. */
export async function waitUntilBlocked(db: Database, connection: HandConnection): Promise<void> {
  await waitFor('the second session waits for a lock', async () => {
    const [row] = await db.query<{ blocked: boolean | null }>(readWait, [connection.pid]);
    return row?.blocked === true;
  });
}

const countWaits: Statement = {
  name: 'test_count_waits',
  text: `select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
};

/** Resolves when that many sessions of the database wait for a lock, whichever they are. */
export async function waitUntilSomeBlocked(db: Database, atLeast = 1): Promise<void> {
  await waitFor(`${String(atLeast)} sessions wait for a lock`, async () => {
    const [row] = await db.query<{ count: number }>(countWaits);
    return (row?.count ?? 0) >= atLeast;
  });
}
