import type { Statement } from './generated/statements.ts';

/** One field of a statement's parameters. Arrays of text go as literals, see `array-literal.ts`. */
export type SqlValue = string | number | boolean | Date | Buffer | null | readonly string[];

/** Whatever can run a statement: the pool, a transaction, a lane. */
export interface Queryable {
  /**
   * Runs a statement and answers its rows as objects.
   *
   * @throws DatabaseError of the driver, with SQLSTATE in `code`; see `isTransientError`.
   */
  query<Row extends object>(
    statement: Statement,
    values?: readonly SqlValue[],
  ): Promise<readonly Row[]>;
}
