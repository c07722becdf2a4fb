import { Socket } from 'node:net';
import pg from 'pg';
import type { Client } from 'pg';
import { isUnconfirmedCommit, unconfirmedCommitError } from './commit-wait.ts';
import { clientConfig, inSchema } from './connection-settings.ts';
import type { ConnectionSettings, SessionKind } from './connection-settings.ts';
import type { Statement } from './generated/statements.ts';
import type { Queryable, SqlValue } from './queryable.ts';
import { SilenceWatch } from './silence-watch.ts';

/**
 * One connection on which many single statements are under way at once (pipelined). Never for transactions of several
 * callers: their statements would mix. Connects on first use and again after a break.
 */
export interface Lane extends Queryable {
  /** Answers rows as arrays of columns, which costs the client less than objects. */
  queryArrays<Row extends readonly unknown[]>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<readonly Row[]>;
  /**
   * Runs statements as one transaction in one round trip, and answers the rows of the last.
   * Only for a lane with a single caller.
   */
  transactionArrays<Row extends readonly unknown[]>(
    steps: readonly { readonly statement: Statement; readonly values: readonly SqlValue[] }[],
  ): Promise<readonly Row[]>;
  close(): Promise<void>;
}

const begin: Statement = { name: 'begin_claim', text: 'begin isolation level read committed' };
const commit: Statement = { name: 'commit_claim', text: 'commit' };

/** Opens a lane; nothing is sent before the first statement. */
export function openLane(
  settings: ConnectionSettings,
  kind: Exclude<SessionKind, 'general'>,
): Lane {
  return new PipelinedLane(settings, kind);
}

class PipelinedLane implements Lane {
  readonly #settings: ConnectionSettings;
  readonly #kind: SessionKind;
  readonly #texts = new Map<string, string>();
  #client: Promise<Client> | undefined;
  readonly #unconfirmed = new WeakSet<Client>();
  readonly #watches = new WeakMap<Client, SilenceWatch>();
  #closed = false;

  constructor(settings: ConnectionSettings, kind: SessionKind) {
    this.#settings = settings;
    this.#kind = kind;
  }

  async query<Row extends object>(
    statement: Statement,
    values: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    const client = await this.#connected();
    const sent = client.query<Row>(this.#prepare(statement, values));
    const result = await this.#watchOf(client).during(sent);
    this.#throwIfUnconfirmed(client);
    return result.rows;
  }

  async queryArrays<Row extends readonly unknown[]>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<readonly Row[]> {
    const client = await this.#connected();
    return this.#sendArrays<Row>(client, { statement, values });
  }

  async transactionArrays<Row extends readonly unknown[]>(
    steps: readonly { readonly statement: Statement; readonly values: readonly SqlValue[] }[],
  ): Promise<readonly Row[]> {
    const client = await this.#connected();
    const sent = [
      { statement: begin, values: [] },
      ...steps,
      { statement: commit, values: [] },
    ].map((step) => this.#sendArrays<Row>(client, step));
    const settled = await Promise.allSettled(sent);
    const failed = settled.find((step) => step.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const last = settled.at(-2);
    return last?.status === 'fulfilled' ? last.value : [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.end();
  }

  async #sendArrays<Row extends readonly unknown[]>(
    client: Client,
    step: { readonly statement: Statement; readonly values: readonly SqlValue[] },
  ): Promise<readonly Row[]> {
    const query = { ...this.#prepare(step.statement, step.values), rowMode: 'array' as const };
    const result = await this.#watchOf(client).during(client.query<unknown[]>(query));
    this.#throwIfUnconfirmed(client);
    // The statement's own column list is the type; tests on the real server hold the two together.
    return result.rows as unknown as readonly Row[];
  }

  /** See {@link isUnconfirmedCommit}: its statement must not look like a success. */
  #throwIfUnconfirmed(client: Client): void {
    if (this.#unconfirmed.has(client)) throw unconfirmedCommitError();
  }

  #watchOf(client: Client): SilenceWatch {
    const watch = this.#watches.get(client) ?? new SilenceWatch(client);
    this.#watches.set(client, watch);
    return watch;
  }

  #prepare(statement: Statement, values: readonly SqlValue[]) {
    let text = this.#texts.get(statement.name);
    if (text === undefined) {
      text = inSchema(statement.text, this.#settings.schema ?? 'holdfast');
      this.#texts.set(statement.name, text);
    }
    const name = this.#settings.pooled === true ? {} : { name: statement.name };
    return { ...name, text, values: [...values] };
  }

  #connected(): Promise<Client> {
    if (this.#closed) return Promise.reject(new Error('The lane is closed: connection ended'));
    this.#client ??= this.#connect();
    return this.#client;
  }

  #connect(): Promise<Client> {
    const client = new pg.Client({ ...clientConfig(this.#settings, this.#kind), pipeline: true });
    const connecting = client.connect().then(() => {
      // Who waits for an answer keeps the process alive in another way.
      const { stream } = client.connection;
      if (this.#settings.letsProcessExit === true && stream instanceof Socket) stream.unref();
      return client;
    });
    // A connection says twice that it is over; by the second time the next one may be in its place.
    const forget = (): void => {
      if (this.#client === connecting) this.#client = undefined;
    };
    client.on('notice', (notice) => {
      if (!isUnconfirmedCommit(notice)) return;
      // It comes just before the answer that it is about. Whatever else is under way is better repeated, too.
      this.#unconfirmed.add(client);
      client.connection.stream.destroy(unconfirmedCommitError());
    });
    client.on('error', forget);
    client.on('end', forget);
    connecting.catch(forget);
    return connecting;
  }
}
