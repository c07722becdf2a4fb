/**
 * Writes openapi.json from the built table of routes: `node packages/contract/scripts/openapi.mjs [--check]`.
 * With --check it writes nothing and exits 1 when the file is not current.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { createOpenApiDocument } from '../dist/openapi.js';

const target = join(import.meta.dirname, '..', 'openapi.json');
const text = await format(JSON.stringify(createOpenApiDocument()), {
  ...(await resolveConfig(target)),
  filepath: target,
});
const isCurrent = existsSync(target) && readFileSync(target, 'utf8') === text;

if (process.argv.includes('--check')) {
  if (!isCurrent) console.error('stale: packages/contract/openapi.json (run npm run generate)');
  process.exitCode = isCurrent ? 0 : 1;
} else if (!isCurrent) {
  writeFileSync(target, text);
  console.log('wrote packages/contract/openapi.json');
}
