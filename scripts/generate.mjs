/**
 * Writes the files that are made from other files: `node scripts/generate.mjs [--check]`.
 * With --check it writes nothing, names the stale files and exits 1 when there are any.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { migrations } from './generators/migrations.mjs';
import { statements } from './generators/statements.mjs';

/**
 * Each generator has a name and `generate({ root })`, which resolves to the files that it makes:
 * `{ path, text }[]`, with paths from the root of the repository.
 */
const generators = [statements, migrations];

const root = join(import.meta.dirname, '..');
const checkOnly = process.argv.includes('--check');

const stale = [];
for (const generator of generators) {
  for (const file of await generator.generate({ root })) {
    if (!isCurrent(file)) stale.push(file);
  }
}

if (checkOnly) {
  for (const { path } of stale) console.error(`stale: ${path} (run npm run generate)`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const file of stale) write(file);
}

function isCurrent({ path, text }) {
  const target = join(root, path);
  return existsSync(target) && readFileSync(target, 'utf8') === text;
}

function write({ path, text }) {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  console.log(`wrote ${path}`);
}
