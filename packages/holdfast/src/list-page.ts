import { isUuid } from '@holdfast/domain';
import type { OptionCheck } from './check-options.ts';

/** The lists that come in pages. */
type ListName = 'jobs' | 'batches';

const defaultLimit = 50;
const maxLimit = 200;

/** Checks the option `limit` of a list. */
export function readPageLimit(check: OptionCheck, limit: number | undefined): number {
  return check.whole('limit', limit, { min: 1, max: maxLimit }) ?? defaultLimit;
}

/**
 * Checks the option `cursor` of a list.
 *
 * @returns the id of the last item of the page before; `undefined` for the first page
 */
export function readCursor(
  check: OptionCheck,
  list: ListName,
  cursor: unknown,
): string | undefined {
  if (cursor === undefined) return undefined;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const mark = `${list}:`;
  const id = text.slice(mark.length);
  if (text.startsWith(mark) && isUuid(id)) return id;
  check.refuse('cursor must be the nextCursor of a page before');
  return undefined;
}

/**
 * Makes a page of what was read for it.
 *
 * @param rows one more than `limit` when there is a next page
 */
export function cutPage<Row extends { readonly id: string }>(
  list: ListName,
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly nextCursor: string | undefined } {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, nextCursor: last && writeCursor(list, last.id) };
}

/** A position in a list is the id of the last item that was seen, which is nobody's business. */
function writeCursor(list: ListName, id: string): string {
  return Buffer.from(`${list}:${id}`).toString('base64url');
}
