/** An open transaction, as the engine uses it: one SQL statement, parameters as text or null, rows under their names. */
export interface TransactionQueryable {
  query(
    text: string,
    values: readonly (string | null)[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Opens the transactions of handlers. `Tx` is what the handler's function is given: a driver's or a library's own. */
export interface TransactionOpener<Tx = unknown> {
  /** Runs `run` in a new transaction, which commits when it resolves and rolls back when it rejects. */
  transaction<Result>(run: (tx: Tx) => Promise<Result>): Promise<Result>;
  /** Lets the engine's own statements take part in the transaction. */
  toQueryable(tx: Tx): TransactionQueryable;
}
