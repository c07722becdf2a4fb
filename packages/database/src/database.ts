import pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import { isUnconfirmedCommit, unconfirmedCommitError } from './commit-wait.ts';
import { ClosingClient } from './closing-client.ts';
import { clientConfig, inSchema } from './connection-settings.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import type { Statement } from './generated/statements.ts';
import { openLane } from './lane.ts';
import type { Lane } from './lane.ts';
import type { Queryable, SqlValue } from './queryable.ts';
import { retryConflicts } from './transient-error.ts';

/** The database as a process sees it: a pool for transactions, and lanes for the engine's single statements. */
export interface Database extends Queryable {
  readonly settings: ConnectionSettings;
  /** The name of the schema that holds the tables. */
  readonly schema: string;
  /**
   * Runs `work` in one transaction. When another transaction got in its way (deadlock, serialisation failure, lock
   * timeout) the whole runs again, at most five times: `work` must have no effects outside the transaction.
   */
  transaction<Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result>;
  /** Runs SQL that is no prepared statement: migrations and partitions. */
  execute(sql: string): Promise<void>;
  /** Opens a lane; it ends with the database at the latest. */
  openLane(kind: 'lane' | 'claims'): Lane;
  close(): Promise<void>;
}

/** Options of {@link openDatabase}. */
export interface DatabaseOptions extends ConnectionSettings {
  /** Connections of the pool at most; default 5. */
  readonly poolSize?: number | undefined;
  /** Called for errors of idle connections, which break no call. */
  readonly onIdleError?: ((error: Error) => void) | undefined;
}

/** Opens the database; nothing is sent before the first call. */
export function openDatabase(options: DatabaseOptions): Database {
  return new PooledDatabase(options);
}

class PooledDatabase implements Database {
  readonly settings: ConnectionSettings;
  readonly schema: string;
  readonly #pool: Pool;
  readonly #lanes: Lane[] = [];

  constructor(options: DatabaseOptions) {
    this.settings = options;
    this.schema = options.schema ?? 'holdfast';
    this.#pool = new pg.Pool({
      ...clientConfig(options, 'general'),
      Client: ClosingClient,
      max: options.poolSize ?? 5,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: options.letsProcessExit === true,
    });
    // Without a listener, an idle connection that breaks would end the process.
    this.#pool.on('error', (error) => {
      // The pool hangs its whole client on the error, cancel key and all: nothing for a log.
      Reflect.deleteProperty(error, 'client');
      options.onIdleError?.(error);
    });
  }

  async query<Row extends object>(
    statement: Statement,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    return this.#withClient((client) => this.#run<Row>(client, statement, values));
  }

  async transaction<Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result> {
    return retryConflicts(() => this.#withClient((client) => this.#transact(client, work)));
  }

  async execute(sql: string): Promise<void> {
    await this.#withClient(async (client) => {
      try {
        await client.query(inSchema(sql, this.schema));
      } catch (error) {
        // A transaction that the SQL began itself must not stay open for the connection's next user.
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    });
  }

  openLane(kind: 'lane' | 'claims'): Lane {
    const lane = openLane(this.settings, kind);
    this.#lanes.push(lane);
    return lane;
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
    await this.#pool.end();
  }

  async #transact<Result>(
    client: PoolClient,
    work: (tx: Queryable) => Promise<Result>,
  ): Promise<Result> {
    await client.query('begin isolation level read committed');
    try {
      const result = await work({
        query: (statement, values = []) => this.#run(client, statement, values),
      });
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  async #run<Row extends object>(
    client: PoolClient,
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<readonly Row[]> {
    const text = inSchema(statement.text, this.schema);
    const name = this.settings.pooled === true ? {} : { name: statement.name };
    const result = await client.query<Row>({ ...name, text, values: [...values] });
    return result.rows;
  }

  async #withClient<Result>(use: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    const watch = watchCommitWait(client);
    try {
      const result = await use(client);
      watch.throwIfUnconfirmed();
      watch.end();
      client.release();
      return result;
    } catch (error) {
      watch.end();
      // A connection that failed outside of SQL is not given back to others.
      client.release(isSqlError(error) ? undefined : true);
      throw error;
    }
  }
}

function isSqlError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity !== 'FATAL';
}

/**
 * A cancelled wait for the synchronous standby reaches the client as success with a warning. Nothing that the standby
 * has not confirmed may be acknowledged, so the warning becomes an error with an unknown outcome.
 */
function watchCommitWait(client: PoolClient) {
  let unconfirmed = false;
  const onNotice = (notice: { readonly message?: string | undefined }): void => {
    if (isUnconfirmedCommit(notice)) unconfirmed = true;
  };
  const onError = (): void => undefined;
  client.on('notice', onNotice);
  client.on('error', onError);
  return {
    throwIfUnconfirmed(): void {
      if (unconfirmed) throw unconfirmedCommitError();
    },
    end(): void {
      client.off('notice', onNotice);
      client.off('error', onError);
    },
  };
}
