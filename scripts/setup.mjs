/**
 * Prepares a checkout so that nothing else needs to be done by hand: checks Node, installs the
 * dependencies and builds, each only when needed. Uses nothing but Node itself, because nothing else
 * is there on the first run. With --with-tests it also installs what only the tests need.
 */
import { join } from 'node:path';
import { ensureBuilt } from './setup/build.mjs';
import { ensureDependencies } from './setup/dependencies.mjs';
import { withSetupLock } from './setup/lock.mjs';
import { requireNodeVersion } from './setup/node-version.mjs';

const root = join(import.meta.dirname, '..');

/** Packages beside the workspace, so that nobody but the tests waits for them. */
const testPackages = [
  ['tests/adapters', 'database libraries for the tests'],
  ['tests/packaging', 'checkers of the published package'],
  ['examples/shop', 'libraries of an example'],
];

requireNodeVersion();
try {
  await withSetupLock(root, async () => {
    await ensureDependencies(root, 'dependencies');
    if (process.argv.includes('--with-tests')) {
      for (const [folder, title] of testPackages) {
        await ensureDependencies(join(root, folder), title);
      }
    }
    await ensureBuilt(root);
  });
} catch (error) {
  if (typeof error.output === 'string') console.error(error.output.trimEnd());
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
