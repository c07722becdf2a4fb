import { textArray } from './array-literal.ts';
import { inSchema } from './connection-settings.ts';
import type { Queryable, SqlValue } from './queryable.ts';

/** A connection that belongs to somebody else, most likely inside a transaction of theirs. */
export interface ForeignConnection {
  /** Runs one statement; every value is text or null, and the statement casts it. */
  query(
    text: string,
    values: readonly (string | null)[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/**
 * Makes somebody else's connection take our statements. Nothing is prepared by name, and every parameter travels as
 * text: libraries differ in how they write arrays, times and JSON, and some guess a parameter's type from its value.
 *
 * They differ in how they read columns as well, so only statements whose columns are uuid, text, boolean or integer are
 * for foreign connections; a bigint comes as text.
 */
export function foreignQueryable(connection: ForeignConnection, schema: string): Queryable {
  return {
    async query<Row extends object>(
      { text }: { readonly text: string },
      values: readonly SqlValue[] = [],
    ): Promise<readonly Row[]> {
      const sent = castFromText(inSchema(text, schema));
      const rows = await connection.query(sent, values.map(toText));
      // The statement's own column list is the type, as on our own connections.
      return rows.map(withoutBigInts) as unknown as readonly Row[];
    },
  };
}

const sentTexts = new Map<string, string>();

/** `$1::uuid` becomes `$1::text::uuid`: the parameter itself is text. */
function castFromText(text: string): string {
  let sent = sentTexts.get(text);
  if (sent === undefined) {
    sent = text.replace(/(\$\d+)::(?!text\b(?!\[))/g, '$1::text::');
    sentTexts.set(text, sent);
  }
  return sent;
}

function toText(value: SqlValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return typeof value === 'object' ? textArray(value) : String(value);
}

function withoutBigInts(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(row).map(
    ([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value] as const,
  );
  return Object.fromEntries(entries);
}
