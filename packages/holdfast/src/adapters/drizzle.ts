import { TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { AdapterOptions, IsolationLevel } from './adapter-options.ts';
import { answerInOrder } from './answer-in-order.ts';
import { cutAtPlaceholders } from './placeholders.ts';
import { plainRows } from './plain-rows.ts';

/** What the adapter uses of a transaction of Drizzle. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  rollback(): never;
}

/** What the adapter uses of a database of Drizzle, whichever driver it stands on. */
export interface DrizzleDatabase<Tx> {
  transaction<Result>(
    run: (tx: Tx) => Promise<Result>,
    options?: { isolationLevel?: IsolationLevel },
  ): Promise<Result>;
}

/** What the adapter uses of the tag `sql` of `drizzle-orm`. */
export interface DrizzleSql {
  raw(text: string): unknown;
  param(value: unknown): unknown;
  join(parts: never[]): unknown;
}

const name = 'Drizzle';

/**
 * Takes part in transactions of Drizzle on PostgreSQL: `tx` is what `db.transaction(async (tx) => …)` gives you. A call that
 * comes after its end, and is never answered by the driver, rejects with `transaction_ended`.
 *
 * @param db opens the transactions of `ctx.transaction`
 * @param sql the tag of `drizzle-orm` that your application uses: `import { sql } from 'drizzle-orm'`
 * @since 0.1.0
 */
export function drizzleAdapter<Tx extends DrizzleTransaction>(
  db: DrizzleDatabase<Tx>,
  sql: DrizzleSql,
  options: AdapterOptions = {},
): TransactionAdapter<Tx> {
  const level = options.isolationLevel;
  return {
    name,
    toQueryable(tx) {
      requireTransaction(tx);
      return {
        async query(text, values) {
          const send = async (sent: string, parameters: readonly unknown[] = []) =>
            plainRows(rowsOf(await tx.execute(inDrizzleForm(sql, sent, parameters))));
          // The driver may be postgres.js.
          return answerInOrder(name, send(text, values), () => send('select 1'));
        },
      };
    },
    transaction: (run) =>
      level === undefined ? db.transaction(run) : db.transaction(run, { isolationLevel: level }),
  };
}

function inDrizzleForm(sql: DrizzleSql, statement: string, values: readonly unknown[]): never {
  const { texts, valueIndexes } = cutAtPlaceholders(statement);
  const parts = texts.flatMap((text, index) => {
    const valueIndex = valueIndexes[index];
    const piece = sql.raw(text);
    return valueIndex === undefined ? [piece] : [piece, sql.param(values[valueIndex])];
  });
  // The library's own classes; they only pass through here.
  return sql.join(parts as never[]) as never;
}

/** Of the drivers below Drizzle, postgres.js answers the rows themselves, the others an object that has them. */
function rowsOf(result: unknown): readonly object[] {
  const rows: unknown = Array.isArray(result)
    ? result
    : (result as { readonly rows: unknown }).rows;
  return rows as readonly object[];
}

function requireTransaction(tx: Partial<DrizzleTransaction>): void {
  if (typeof tx.rollback === 'function') return;
  throw new TransactionInvalidError(
    'tx is not the transaction of Drizzle that db.transaction(async (tx) => …) gives, but the root db or something else',
  );
}
