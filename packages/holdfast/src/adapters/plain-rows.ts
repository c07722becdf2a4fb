/** A row under the column names of the SQL. */
export type PlainRow = Readonly<Record<string, unknown>>;

/**
 * Gives columns their own names back where a library was told to rename them: `queueId`, `QueueId` and `queue-id` become
 * `queue_id`.
 */
export function plainRows(rows: Iterable<object>): readonly PlainRow[] {
  return Array.from(rows, plainRow);
}

const renamed = /[A-Z-]/;

function plainRow(row: object): PlainRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]: [string, unknown]) => [
      renamed.test(name) ? snakeCase(name) : name,
      value,
    ]),
  );
}

function snakeCase(name: string): string {
  return name
    .replace(/[A-Z]/g, (letter, index) => `${index === 0 ? '' : '_'}${letter.toLowerCase()}`)
    .replaceAll('-', '_');
}
