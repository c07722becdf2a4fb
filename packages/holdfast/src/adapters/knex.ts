import { TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { AdapterOptions, IsolationLevel } from './adapter-options.ts';
import { cutAtPlaceholders } from './placeholders.ts';
import { plainRows } from './plain-rows.ts';

/** What the adapter uses of a `Knex.Transaction`. */
export interface KnexTransaction {
  isCompleted(): boolean;
  raw(sql: string, bindings: never[]): PromiseLike<{ readonly rows: readonly object[] }>;
}

/** What the adapter uses of a `Knex`. */
export interface KnexRoot<Tx> {
  transaction<Result>(
    run: (tx: Tx) => Promise<Result>,
    options?: { isolationLevel?: IsolationLevel },
  ): Promise<Result>;
}

/**
 * Takes part in transactions of Knex on its `pg` client: `tx` is what `knex.transaction(async (tx) => …)` gives you.
 *
 * @param knex opens the transactions of `ctx.transaction`
 * @since 0.1.0
 */
export function knexAdapter<Tx extends KnexTransaction>(
  knex: KnexRoot<Tx>,
  options: AdapterOptions = {},
): TransactionAdapter<Tx> {
  const level = options.isolationLevel;
  return {
    name: 'Knex',
    toQueryable(tx) {
      requireTransaction(tx);
      return {
        async query(text, values) {
          const { sql, bindings } = inKnexForm(text, values);
          // The library's type for bindings names every class that its drivers know.
          const { rows } = await tx.raw(sql, bindings as never[]);
          return plainRows(rows);
        },
      };
    },
    transaction: (run) =>
      knex.transaction(run, level === undefined ? {} : { isolationLevel: level }),
  };
}

/** Knex counts question marks, also inside of quotes, so those of the statement itself are escaped. */
function inKnexForm<Value>(statement: string, values: readonly Value[]) {
  const { texts, valueIndexes } = cutAtPlaceholders(statement);
  return {
    sql: texts.map((text) => text.replaceAll('?', String.raw`\?`)).join('?'),
    bindings: valueIndexes.map((index) => values[index]),
  };
}

function requireTransaction(tx: Partial<KnexTransaction>): void {
  if (typeof tx.isCompleted !== 'function') {
    throw new TransactionInvalidError(
      'tx is not the transaction of Knex that knex.transaction(async (tx) => …) gives, but the root knex or something else',
    );
  }
  if (tx.isCompleted()) {
    throw new TransactionInvalidError('tx is a transaction of Knex that is over');
  }
}
