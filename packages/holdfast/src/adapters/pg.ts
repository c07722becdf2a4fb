import { HoldfastError, TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter, TransactionQueryable } from '../transaction-adapter.ts';
import type { AdapterOptions } from './adapter-options.ts';
import { plainRows } from './plain-rows.ts';

/** What the adapter uses of a client of `pg`: a `Client`, or a `PoolClient` that was checked out. */
export interface PgClient {
  query(query: {
    text: string;
    values: unknown[];
  }): Promise<{ readonly command: string; readonly rows: readonly object[] }>;
  /** `I` outside of a transaction. Older versions of `pg` do not know it. */
  getTransactionStatus?(): string | null;
}

/** What the adapter uses of a client that comes from a pool. */
export interface PgPoolClient extends PgClient {
  release(error?: Error | boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** What the adapter uses of a `Pool` of `pg`. The second form is only here because `pg` has it. */
export interface PgPool<Client> {
  connect(): Promise<Client>;
  connect(callback: (...args: never[]) => void): void;
}

/**
 * Takes part in transactions that you begin on a client of `pg`: `tx` is that client.
 *
 * @param pool opens the transactions of `ctx.transaction`
 * @since 0.1.0
 */
export function pgAdapter<Client extends PgPoolClient>(
  pool: PgPool<Client>,
  options: AdapterOptions = {},
): TransactionAdapter<Client> {
  const level = options.isolationLevel;
  const begin = level === undefined ? 'begin' : `begin isolation level ${level}`;
  return {
    name: 'pg',
    toQueryable: pgQueryable,
    async transaction(run) {
      const client = await pool.connect();
      return transact(client, begin, run);
    },
  };
}

/**
 * The transaction that was begun on a client of `pg`.
 *
 * @throws TransactionInvalidError for a pool, and for a client on which no transaction was begun.
 */
export function pgQueryable(client: PgClient): TransactionQueryable {
  if ('totalCount' in client) {
    throw new TransactionInvalidError(
      'tx is a pool of pg, which runs every statement on another connection. ' +
        'Take a client with pool.connect(), begin on it, and give the client',
    );
  }
  if (client.getTransactionStatus?.() === 'I') {
    throw new TransactionInvalidError('tx is a client of pg on which no transaction was begun');
  }
  return {
    async query(text, values) {
      const { rows } = await client.query({ text, values: [...values] });
      return plainRows(rows);
    },
  };
}

async function transact<Client extends PgPoolClient, Result>(
  client: Client,
  begin: string,
  run: (tx: Client) => Promise<Result>,
): Promise<Result> {
  const statement = (text: string) => client.query({ text, values: [] });
  // Without a listener, a connection that breaks in between would end the process; the next statement tells of it.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let broken = false;
  try {
    await statement(begin);
    const result = await run(client);
    const { command } = await statement('commit');
    if (command !== 'COMMIT') throw abortedError();
    return result;
  } catch (error) {
    await statement('rollback').catch(() => (broken = true));
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

/** PostgreSQL answers the commit of a failed transaction with a rollback, and the driver takes that for a success. */
function abortedError(): HoldfastError {
  return new HoldfastError(
    'The transaction was rolled back, because one of its statements had failed and the error was not passed on',
    { code: 'transaction_aborted' },
  );
}
