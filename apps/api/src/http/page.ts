/** How the rows of a page are shown, and where the next page begins. */
export interface PageForm<Row, Item> {
  readonly present: (row: Row) => Item;
  /** The cursor for what comes after a row. */
  readonly position: (row: Row) => string;
}

/**
 * A page of a list.
 *
 * @param rows up to one more than `limit`: the one more says that there is a next page
 */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { present, position }: PageForm<Row, Item>,
): { readonly data: readonly Item[]; readonly nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? position(last) : null;
  return { data: shown.map(present), nextCursor };
}
