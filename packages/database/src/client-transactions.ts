import { TransactionInvalidError } from '@holdfast/domain';
import pg from 'pg';
import type { PoolClient } from 'pg';
import { ClosingClient } from './closing-client.ts';
import { isUnconfirmedCommit, unconfirmedCommitError } from './commit-wait.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import type { ForeignConnection } from './foreign-transaction.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Transactions for code that is not ours: on connections of their own, with the server's own limits. */
export interface ClientTransactions {
  /**
   * Runs `run` in a transaction, which commits when it resolves and rolls back when it rejects. Never repeats it.
   *
   * @throws the error of `run`, or of the database. After an error of the commit itself, the transaction may have been
   *   committed or not.
   */
  transaction<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result>;
  /**
   * The client as a connection that takes our statements.
   *
   * @throws TransactionInvalidError when it is not in a transaction
   */
  toQueryable(client: PoolClient): ForeignConnection;
  /** Resolves when no transaction is open any more. */
  close(): Promise<void>;
}

/** How many transactions may be open at once. */
export interface ClientTransactionsOptions {
  readonly settings: ConnectionSettings;
  readonly poolSize: number;
  /** Called for errors of idle connections, which break no call. */
  readonly onIdleError: (error: Error) => void;
}

// A process that froze inside a transaction must not keep its locks for ever.
const sessionOptions =
  '-c idle_in_transaction_session_timeout=60000 -c default_transaction_isolation=read\\ committed';

/** Opens the transactions; nothing is sent before the first. */
export function openClientTransactions(options: ClientTransactionsOptions): ClientTransactions {
  const { settings, poolSize, onIdleError } = options;
  const pool = new pg.Pool({
    connectionString: settings.connectionString,
    ...(settings.ssl === undefined ? {} : { ssl: settings.ssl }),
    application_name: settings.applicationName ?? 'holdfast',
    Client: ClosingClient,
    ...(settings.pooled === true ? {} : { options: sessionOptions }),
    connectionTimeoutMillis: 30_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    max: poolSize,
  });
  pool.on('error', (error) => {
    // The pool hangs its whole client on the error, cancel key and all: nothing for a log.
    Reflect.deleteProperty(error, 'client');
    onIdleError(error);
  });
  return {
    transaction: (run) => transact(pool, run),
    toQueryable(client) {
      requireTransaction(client);
      return {
        query: async (text, values) => {
          const result = await client.query<Record<string, unknown>>(text, [...values]);
          return result.rows;
        },
      };
    },
    close: () => pool.end(),
  };
}

/** Outside of a transaction each statement is committed by itself, and a lock is gone at once. */
function requireTransaction(client: PoolClient): void {
  // What handlers hand in may be a client of another version of the driver, which does not tell.
  const { getTransactionStatus } = client as { getTransactionStatus?: () => string | null };
  if (getTransactionStatus?.call(client) !== 'I') return;
  throw new TransactionInvalidError(
    'tx is a client of pg on which no transaction was begun, or whose transaction has ended',
  );
}

async function transact<Result>(
  pool: pg.Pool,
  run: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const notices: { readonly message?: string | undefined }[] = [];
  const onNotice = (notice: { readonly message?: string | undefined }): void => {
    notices.push({ message: notice.message });
  };
  const onError = (): void => undefined;
  client.on('notice', onNotice).on('error', onError);
  // What `run` does takes as long as it takes.
  const watch = new SilenceWatch(client);
  let isClean = false;
  try {
    await watch.during(client.query('begin isolation level read committed'));
    const result = await run(client);
    await watch.during(client.query('commit'));
    if (notices.some(isUnconfirmedCommit)) throw unconfirmedCommitError();
    isClean = true;
    return result;
  } catch (error) {
    isClean = await isRolledBack(client, watch);
    throw error;
  } finally {
    client.off('notice', onNotice).off('error', onError);
    client.release(!isClean);
  }
}

async function isRolledBack(client: PoolClient, watch: SilenceWatch): Promise<boolean> {
  try {
    await watch.during(client.query('rollback'));
    return true;
  } catch {
    return false;
  }
}
