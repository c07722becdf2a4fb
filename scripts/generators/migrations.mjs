import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { templateLiteral } from './sql-text.mjs';

const sourceFolder = 'packages/database/migrations';
const output = 'packages/database/src/generated/migrations.ts';

/** Numbered SQL files become one typed list, with the checksum that the migrator compares. */
export const migrations = {
  name: 'migrations',
  async generate({ root }) {
    const folder = join(root, sourceFolder);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const files = names.filter((file) => file.endsWith('.sql'));
    const list = files.sort().map((file) => readMigration(folder, file));
    refuseGaps(list);
    return [{ path: output, text: render(list) }];
  },
};

function readMigration(folder, file) {
  const match = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file);
  if (match === null) throw new Error(`${file} is not named NNNN_snake_case.sql`);
  const sql = readFileSync(join(folder, file), 'utf8');
  return {
    file,
    version: Number(match[1]),
    name: match[2],
    sql,
    transactional: !/^-- no-transaction\s*$/m.test(sql),
    checksum: createHash('sha256').update(sql).digest('hex'),
  };
}

function refuseGaps(list) {
  for (const [index, { file, version }] of list.entries()) {
    if (version !== index + 1) {
      throw new Error(`${file} has version ${version} where ${index + 1} was expected`);
    }
  }
}

function render(list) {
  const entries = list.map(
    ({ version, name, transactional, checksum, sql }) =>
      `  {\n    version: ${version},\n    name: '${name}',\n    transactional: ${transactional},\n` +
      `    checksum: '${checksum}',\n    sql: ${templateLiteral(sql)},\n  },`,
  );
  return [
    '// Made from packages/database/migrations by `npm run generate`. Do not edit.',
    '',
    '/** One numbered step of the schema. */',
    'export interface Migration {',
    '  readonly version: number;',
    '  readonly name: string;',
    '  /** False when the file says `-- no-transaction`, as CREATE INDEX CONCURRENTLY needs. */',
    '  readonly transactional: boolean;',
    '  /** SHA-256 of the SQL file, in hex. */',
    '  readonly checksum: string;',
    '  readonly sql: string;',
    '}',
    '',
    'export const migrations: readonly Migration[] = [',
    ...entries,
    '];',
    '',
  ].join('\n');
}
