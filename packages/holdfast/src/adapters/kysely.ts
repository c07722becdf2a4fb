import { TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { AdapterOptions, IsolationLevel } from './adapter-options.ts';
import { plainRows } from './plain-rows.ts';

/** What the adapter uses of a `Transaction` of Kysely. */
export interface KyselyTransaction {
  readonly isTransaction: boolean;
  withoutPlugins(): {
    executeQuery(query: never): Promise<{ readonly rows: readonly unknown[] }>;
  };
}

/** What the adapter uses of a `Kysely`. */
export interface KyselyRoot<Tx> {
  transaction(): KyselyTransactionBuilder<Tx>;
}

/** What the adapter uses of Kysely's `TransactionBuilder`. */
export interface KyselyTransactionBuilder<Tx> {
  setIsolationLevel(level: IsolationLevel): KyselyTransactionBuilder<Tx>;
  execute<Result>(run: (tx: Tx) => Promise<Result>): Promise<Result>;
}

/**
 * Takes part in transactions of Kysely on its PostgreSQL dialect, controlled ones too: `tx` is what
 * `db.transaction().execute(async (tx) => …)` gives you. Plugins of yours are left out of Holdfast's statements.
 *
 * @param db opens the transactions of `ctx.transaction`
 * @since 0.1.0
 */
export function kyselyAdapter<Tx extends KyselyTransaction>(
  db: KyselyRoot<Tx>,
  options: AdapterOptions = {},
): TransactionAdapter<Tx> {
  const level = options.isolationLevel;
  return {
    name: 'Kysely',
    toQueryable(tx) {
      requireTransaction(tx);
      const bare = tx.withoutPlugins();
      return {
        async query(text, values) {
          const { rows } = await bare.executeQuery(compiledQuery(text, values));
          return plainRows(rows as readonly object[]);
        },
      };
    },
    transaction(run) {
      const builder = db.transaction();
      return (level === undefined ? builder : builder.setIsolationLevel(level)).execute(run);
    },
  };
}

/** What Kysely's `CompiledQuery.raw` makes; written out, so that the library need not be found from here. */
function compiledQuery(text: string, values: readonly unknown[]) {
  const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
  const compiled = {
    sql: text,
    parameters: [...values],
    query,
    queryId: { queryId: 'holdfast' },
  };
  // The parameter's own type is the library's, over all of its syntax nodes.
  return compiled as never;
}

function requireTransaction(tx: Partial<KyselyTransaction>): void {
  if (tx.isTransaction === true) return;
  throw new TransactionInvalidError(
    'tx is not the transaction of Kysely that db.transaction().execute(async (tx) => …) gives, but the root db or something else',
  );
}
