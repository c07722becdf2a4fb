/** A statement cut at its placeholders: one text more than there are placeholders. */
export interface CutStatement {
  readonly texts: readonly string[];
  /** For each placeholder, the index of its value: 0 for `$1`. A value that is used twice is here twice. */
  readonly valueIndexes: readonly number[];
}

// Everything in which `$1` is no placeholder, by PostgreSQL's rules of lexical structure, and then the placeholder.
const tokens = new RegExp(
  [
    /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/, // text with backslash escapes
    /'(?:[^']|'')*'/, // text
    /"(?:[^"]|"")*"/, // quoted name
    /--[^\n]*/, // comment to the end of the line
    /\/\*[\s\S]*?\*\//, // comment
    /\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$/, // text between dollars
    /[A-Za-z_][\w$]*/, // name or keyword
    /\$(\d+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Cuts a statement at `$1`, `$2`, …, for libraries that write placeholders in a way of their own. */
export function cutAtPlaceholders(statement: string): CutStatement {
  const texts: string[] = [];
  const valueIndexes: number[] = [];
  let end = 0;
  for (const match of statement.matchAll(tokens)) {
    const number = match[2];
    if (number === undefined) continue;
    texts.push(statement.slice(end, match.index));
    valueIndexes.push(Number(number) - 1);
    end = match.index + match[0].length;
  }
  texts.push(statement.slice(end));
  return { texts, valueIndexes };
}
