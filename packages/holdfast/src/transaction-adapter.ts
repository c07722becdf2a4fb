/** The caller's open transaction, as Holdfast sees it. */
export interface TransactionQueryable {
  /**
   * Runs one SQL statement inside the caller's transaction.
   *
   * @param text SQL with the placeholders `$1`, `$2`, …; one may stand more than once, and each is cast from text, as in
   * `$1::text::uuid`, so that no library has to guess its type
   * @param values one for each placeholder, to be sent as parameters and never written into the text. Holdfast gives
   * nothing but strings and nulls.
   * @returns the rows; columns under their own names. Whatever the library throws is passed on as it is.
   */
  query(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/**
 * Lets Holdfast take part in the transactions of a database library. `Tx` is what that library gives to the code inside
 * a transaction.
 */
export interface TransactionAdapter<Tx> {
  /** The library's name, for error messages. */
  readonly name: string;
  /**
   * Makes the library's transaction something that Holdfast can query.
   *
   * @throws TransactionInvalidError when `tx` is no transaction of the library, for example a pool or the root client.
   */
  toQueryable(tx: Tx): TransactionQueryable;
  /**
   * Runs `run` in a new transaction of the library, which commits when it resolves and rolls back when it rejects.
   * Needed for `ctx.transaction` only.
   */
  transaction?<Result>(run: (tx: Tx) => Promise<Result>): Promise<Result>;
}
