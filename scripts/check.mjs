/**
 * `npm run check`: everything that is checked without running the product, cheapest first. Stops at
 * the first step that fails and shows what that step said.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from './setup/run-command.mjs';
import { step } from './setup/step.mjs';

const root = join(import.meta.dirname, '..');
const bin = (path) => join(root, 'node_modules', path);
const tsc = bin('typescript/bin/tsc');
const folders = ['packages', 'apps', 'scripts', 'tests', 'examples', 'bench'].filter((folder) =>
  existsSync(join(root, folder)),
);

const steps = [
  ['format', [bin('prettier/bin/prettier.cjs'), '--check', '--log-level=warn', '.']],
  ['types', [tsc, '-b']],
  ['types of the dashboard', [tsc, '-p', 'apps/web']],
  ['types of the tests', [tsc, '-p', 'tsconfig.tests.json']],
  ['lint', [bin('eslint/bin/eslint.js'), '--max-warnings=0', '.']],
  ['import direction', [bin('dependency-cruiser/bin/dependency-cruise.mjs'), ...folders]],
  ['dead code', [bin('knip/bin/knip.js')]],
  ['generated files', ['scripts/generate.mjs', '--check']],
];

const setup = spawnSync(process.execPath, ['scripts/setup.mjs', '--with-tests'], {
  cwd: root,
  stdio: 'inherit',
});
if (setup.status !== 0) process.exit(1);

for (const [title, args] of steps) {
  try {
    await step(title, () => runNode(title, args, { cwd: root }));
  } catch (error) {
    console.error(error.output ?? error);
    console.error(`\nThe check stopped at: ${title}`);
    process.exit(1);
  }
}
console.log('All checks passed');
