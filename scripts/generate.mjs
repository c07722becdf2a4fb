/**
 * Writes the files that are made from other files: `node scripts/generate.mjs [--check] [--for-build]`.
 * With --check it writes nothing, names the stale files and exits 1 when there are any.
 * With --for-build it makes only what the compiler needs, without a built checkout.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorPage } from './generators/error-page.mjs';
import { migrations } from './generators/migrations.mjs';
import { openapi } from './generators/openapi.mjs';
import { stateMachine } from './generators/state-machine.mjs';
import { statements } from './generators/statements.mjs';
import { runNode } from './setup/run-command.mjs';

/**
 * Each generator has a name and `generate({ root })`, which resolves to the files that it makes:
 * `{ path, text }[]`, with paths from the root of the repository. Those with `needsBuild` read
 * compiled packages.
 */
const generators = [statements, migrations, errorPage, stateMachine, openapi];

const root = join(import.meta.dirname, '..');
const checkOnly = process.argv.includes('--check');
const forBuild = process.argv.includes('--for-build');

try {
  const staleCount = await run(generators.filter(({ needsBuild }) => needsBuild !== true));
  const compiledCount = forBuild ? 0 : await runCompiled();
  process.exitCode = checkOnly && staleCount + compiledCount > 0 ? 1 : 0;
} catch (error) {
  console.error(error.output ?? error.message);
  process.exitCode = 1;
}

async function runCompiled() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await runNode('tsc -b', [compiler, '-b', 'packages/domain', 'packages/contract'], { cwd: root });
  return run(generators.filter(({ needsBuild }) => needsBuild === true));
}

/** Runs the generators, writes or names what is stale, and gives the number of stale files. */
async function run(chosen) {
  let staleCount = 0;
  for (const generator of chosen) {
    for (const file of await generator.generate({ root })) {
      if (isCurrent(file)) continue;
      staleCount += 1;
      if (checkOnly) console.error(`stale: ${file.path} (run npm run generate)`);
      else write(file);
    }
  }
  return staleCount;
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
