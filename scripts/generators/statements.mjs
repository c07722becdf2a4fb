import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { countStatements, stripComments, templateLiteral } from './sql-text.mjs';

const sourceFolder = 'packages/database/sql';
const output = 'packages/database/src/generated/statements.ts';

/** Named SQL blocks become one typed constant, so that no file is read at run time. */
export const statements = {
  name: 'statements',
  async generate({ root }) {
    const blocks = sqlFiles(join(root, sourceFolder)).flatMap((file) => blocksIn(root, file));
    refuseDuplicates(blocks);
    return [{ path: output, text: render(blocks) }];
  },
};

function sqlFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
}

function blocksIn(root, file) {
  const text = readFileSync(join(root, sourceFolder, file), 'utf8');
  const [preamble, ...parts] = text.split(/^-- name:/m);
  if (stripComments(preamble) !== '') {
    throw new Error(`${file}: SQL stands before the first "-- name:" line`);
  }
  return parts.map((part) => readBlock(file, part));
}

function readBlock(file, part) {
  const lineEnd = part.indexOf('\n');
  const name = part.slice(0, lineEnd).trim();
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new Error(`${file}: "${name}" is not a snake_case statement name`);
  }
  const body = part.slice(lineEnd + 1);
  const statementCount = countStatements(body);
  if (statementCount !== 1) {
    throw new Error(`${file}: ${name} must hold one statement, but holds ${statementCount}`);
  }
  return { file, name, text: stripComments(body).replace(/;$/, '').trimEnd() };
}

function refuseDuplicates(blocks) {
  const seen = new Map();
  for (const { file, name } of blocks) {
    const before = seen.get(name);
    if (before !== undefined) throw new Error(`${name} is defined in ${before} and in ${file}`);
    seen.set(name, file);
  }
}

function camelCase(name) {
  return name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

function render(blocks) {
  const entries = blocks.map(
    ({ file, name, text }) =>
      `  /** ${file} */\n  ${camelCase(name)}: {\n    name: '${name}',\n    text: ${templateLiteral(text)},\n  },`,
  );
  return [
    '// Made from packages/database/sql by `npm run generate`. Do not edit.',
    '',
    '/** A named SQL statement: the name identifies it to the server as a prepared statement. */',
    'export interface Statement {',
    '  readonly name: string;',
    '  readonly text: string;',
    '}',
    '',
    'export const statements = {',
    ...entries,
    '} as const satisfies Record<string, Statement>;',
    '',
  ].join('\n');
}
