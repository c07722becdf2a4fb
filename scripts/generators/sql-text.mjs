/**
 * Reads SQL text well enough to drop its comments and to count its statements, without a parser.
 * Quoted strings, quoted identifiers and dollar-quoted bodies are passed through untouched.
 */

const token =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\$)[\s\S]*?\1|;|[^-/'"$;]+|[\s\S]/g;

/** Splits SQL into pieces: comments, quoted text, semicolons and the rest. */
function tokens(sql) {
  return sql.match(token) ?? [];
}

const isComment = (text) => text.startsWith('--') || text.startsWith('/*');

/** The SQL without comments, without blank lines and without trailing spaces. */
export function stripComments(sql) {
  const bare = tokens(sql)
    .filter((text) => !isComment(text))
    .join('');
  return bare
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
    .trim();
}

/** How many statements the SQL holds. A semicolon at the very end does not start another one. */
export function countStatements(sql) {
  let count = 0;
  let current = '';
  for (const text of tokens(stripComments(sql))) {
    if (text === ';') {
      if (current.trim() !== '') count += 1;
      current = '';
    } else {
      current += text;
    }
  }
  return current.trim() === '' ? count : count + 1;
}

/** The text as a TypeScript template literal. */
export function templateLiteral(text) {
  return '`' + text.replace(/[\\`]|\$\{/g, (match) => `\\${match}`) + '`';
}
