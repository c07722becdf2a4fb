import { TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { AdapterOptions, IsolationLevel } from './adapter-options.ts';
import { plainRows } from './plain-rows.ts';

interface TypeOrmQueryRunner {
  readonly isReleased: boolean;
  readonly isTransactionActive: boolean;
  query(
    text: string,
    values: unknown[],
    structured: true,
  ): Promise<{ readonly records: readonly object[] }>;
}

/** What the adapter uses of an `EntityManager` of TypeORM. */
export interface TypeOrmManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined;
}

type TypeOrmIsolationLevel = Uppercase<IsolationLevel>;

/** What the adapter uses of a `DataSource`, or of its `manager`. */
export interface TypeOrmRoot<Tx> {
  transaction<Result>(run: (tx: Tx) => Promise<Result>): Promise<Result>;
  transaction<Result>(
    isolationLevel: TypeOrmIsolationLevel,
    run: (tx: Tx) => Promise<Result>,
  ): Promise<Result>;
}

/**
 * Takes part in transactions of TypeORM on its `postgres` driver: `tx` is the manager that
 * `dataSource.transaction(async (tx) => …)` gives you, or that of a query runner with a transaction.
 *
 * @param dataSource opens the transactions of `ctx.transaction`
 * @since 0.1.0
 */
export function typeOrmAdapter<Tx extends TypeOrmManager>(
  dataSource: TypeOrmRoot<Tx>,
  options: AdapterOptions = {},
): TransactionAdapter<Tx> {
  const level = options.isolationLevel;
  return {
    name: 'TypeORM',
    toQueryable(tx) {
      const runner = requireTransaction(tx);
      return {
        async query(text, values) {
          // Unless its result is structured, the shape of the answer depends on the kind of statement.
          const { records } = await runner.query(text, [...values], true);
          return plainRows(records);
        },
      };
    },
    transaction: (run) =>
      level === undefined
        ? dataSource.transaction(run)
        : dataSource.transaction(level.toUpperCase() as TypeOrmIsolationLevel, run),
  };
}

function requireTransaction({ queryRunner }: TypeOrmManager): TypeOrmQueryRunner {
  if (queryRunner?.isTransactionActive === true && !queryRunner.isReleased) return queryRunner;
  throw new TransactionInvalidError(
    'tx is not the manager that dataSource.transaction(async (tx) => …) gives, but the data source, its manager, or a transaction that is over',
  );
}
