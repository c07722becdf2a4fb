import { TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { AdapterOptions } from './adapter-options.ts';
import { answerInOrder } from './answer-in-order.ts';
import { plainRows } from './plain-rows.ts';

/** What the adapter uses of the `sql` that postgres.js gives to the function in `sql.begin`. */
export interface PostgresJsTransaction {
  unsafe(
    text: string,
    values: never[],
    options: { prepare: boolean },
  ): PromiseLike<Iterable<object>>;
  savepoint(...args: never[]): unknown;
}

/** What the adapter uses of the root `sql` of postgres.js. */
export interface PostgresJsSql<Tx> {
  begin(run: (tx: Tx) => Promise<void>): Promise<unknown>;
  begin(options: string, run: (tx: Tx) => Promise<void>): Promise<unknown>;
}

const name = 'postgres.js';

/**
 * Takes part in transactions of postgres.js: `tx` is what `sql.begin(async (tx) => …)` gives you. A call that
 * comes after its end, and is never answered by the driver, rejects with `transaction_ended`.
 *
 * @param sql opens the transactions of `ctx.transaction`
 * @since 0.1.0
 */
export function postgresJsAdapter<Tx extends PostgresJsTransaction>(
  sql: PostgresJsSql<Tx>,
  options: AdapterOptions = {},
): TransactionAdapter<Tx> {
  const level = options.isolationLevel;
  return {
    name,
    toQueryable(tx) {
      requireTransaction(tx);
      return {
        async query(text, values) {
          // The library's type for parameters is generic over types that the user has added.
          const send = async (sent: string, parameters = [] as never[]) =>
            plainRows(await tx.unsafe(sent, parameters, { prepare: true }));
          return answerInOrder(name, send(text, [...values] as never[]), () => send('select 1'));
        },
      };
    },
    async transaction<Result>(run: (tx: Tx) => Promise<Result>) {
      const results: Result[] = [];
      // The library awaits the elements of an array that is returned, so the result goes around it.
      const keep = async (tx: Tx): Promise<void> => {
        results[0] = await run(tx);
      };
      await (level === undefined ? sql.begin(keep) : sql.begin(`isolation level ${level}`, keep));
      return results[0] as Result;
    },
  };
}

function requireTransaction(tx: Partial<PostgresJsTransaction>): void {
  if (typeof tx.savepoint === 'function') return;
  throw new TransactionInvalidError(
    'tx is not the transaction of postgres.js that sql.begin(async (tx) => …) gives, but the root sql or something else',
  );
}
