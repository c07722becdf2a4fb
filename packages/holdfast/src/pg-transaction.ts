import { TransactionInvalidError } from '@holdfast/domain';
import { pgQueryable } from './adapters/pg.ts';
import type { PgClient } from './adapters/pg.ts';
import type { TransactionAdapter } from './transaction-adapter.ts';

/** A `pg` client inside a transaction: what Holdfast uses of it, and what handlers use of the one that they are given. */
export interface PgTransaction extends PgClient {
  query(query: {
    text: string;
    values: unknown[];
  }): Promise<{ readonly command: string; readonly rows: readonly object[] }>;
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- as the driver has it
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number | null }>;
  /** A pool has one: it is no transaction, since each of its statements may run on another connection. */
  readonly totalCount?: undefined;
}

/** Takes a `pg` client as transaction. The worker opens the transactions of handlers itself. */
export const pgTransactionAdapter: TransactionAdapter<PgTransaction> = {
  name: 'pg',
  toQueryable(tx) {
    requireClient(tx);
    return pgQueryable(tx);
  },
};

/** Callers in plain JavaScript hand in anything. */
function requireClient(tx: unknown): void {
  const isObject = (typeof tx === 'object' || typeof tx === 'function') && tx !== null;
  if (isObject && 'query' in tx && typeof tx.query === 'function') return;
  throw new TransactionInvalidError(
    'tx is not a client of pg. For transactions of other libraries, give their adapter to the constructor of Holdfast',
  );
}
