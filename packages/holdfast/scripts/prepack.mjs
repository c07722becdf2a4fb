/**
 * Before `npm pack`: builds the package and puts into `lib` what is published, with the internal packages inside, and a
 * package.json in place of the one of the workspace. `postpack.mjs` takes all of it away again.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPackages } from './packages.mjs';
import { publishedManifest } from './published-manifest.mjs';
import { collectModules } from './published-modules.mjs';
import { restore, staged } from './staged-files.mjs';

const folder = join(import.meta.dirname, '..');
const root = join(folder, '../..');

// What an earlier run may have left behind when it was killed.
restore(folder);
build();

const packages = readPackages(join(root, 'packages'));
const own = packages.get('holdfast');
const { modules, externals } = collectModules(own, packages);
const manifest = publishedManifest(own.manifest, externals);

for (const { output, text } of modules) {
  const file = join(folder, staged.code, output);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
for (const name of staged.texts) cpSync(join(root, name), join(folder, name));
writeFileSync(join(folder, staged.manifestBackup), readFileSync(join(folder, 'package.json')));
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

function build() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-b', folder], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The package does not compile');
}
