import { fencesOf, tableRowsOf } from './markdown.ts';
import type { Page } from './markdown.ts';

/** The calls of ours in one cell of a table; they belong together, such as a pause and its end. */
export interface DocumentedCell {
  readonly texts: readonly string[];
  /** The first cell of its row, to find the place by. */
  readonly row: string;
}

const ownColumn = 'Holdfast';
const nothing = 'nothing';

/** The cells with calls of every table that has a column for Holdfast. */
export function cellsOf(page: Page): readonly DocumentedCell[] {
  return ownCellsOf(page).flatMap(({ row, cell }) => {
    const texts = spansOf(cell);
    return texts.length === 0 ? [] : [{ texts, row: readable(row) }];
  });
}

/** The cells of that column that say neither a call nor that there is none. */
export function emptyCellsOf(page: Page): readonly string[] {
  return ownCellsOf(page).flatMap(({ row, cell }) =>
    cell.startsWith(nothing) || spansOf(cell).length > 0 ? [] : [readable(row)],
  );
}

/** What stands in a cell beside calls: connecting words are enough, code without backticks would escape. */
export function strayCodeOf(page: Page): readonly string[] {
  return ownCellsOf(page).flatMap(({ cell }) => {
    if (cell.startsWith(nothing)) return [];
    const rest = cell.replace(/`[^`]*`/g, '');
    return /[(){}=;]/.test(rest) ? [rest] : [];
  });
}

/** The program that a page shows above its tables: what the calls refer to. */
export function setUpOf(page: Page): string {
  const found = fencesOf(page).find(({ marks }) => marks.includes('calls'));
  if (found === undefined) throw new Error(`${page.path} has no block that is marked "ts calls"`);
  return found.body;
}

function ownCellsOf(page: Page): readonly { readonly row: string; readonly cell: string }[] {
  let column = -1;
  return tableRowsOf(page).flatMap((cells) => {
    if (cells.some((cell) => cell === ownColumn)) {
      column = cells.indexOf(ownColumn);
      return [];
    }
    const cell = cells[column];
    return cell === undefined ? [] : [{ row: cells[0] ?? '', cell }];
  });
}

function spansOf(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll('\\|', '|'));
}

function readable(cell: string): string {
  return cell.replaceAll('`', '');
}
