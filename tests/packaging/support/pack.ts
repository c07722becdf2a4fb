import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runNpm } from './npm.ts';

const root = join(import.meta.dirname, '../../..');
const texts = ['package.json', 'tsconfig.base.json', 'LICENSE', 'CHANGELOG.md', '.npmrc'];
const leftOut = new Set(['node_modules', 'test']);

/**
 * Packs the published package in a copy of the workspace, since a package.json that changes for a moment would disturb
 * whoever works in the checkout meanwhile.
 *
 * @returns the path of the tarball
 */
export async function packHoldfast(folder: string): Promise<string> {
  const copy = join(folder, 'workspace');
  mkdirSync(copy, { recursive: true });
  for (const name of [...texts, 'packages']) {
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      // The compiler goes by them: what is built in the checkout is built in the copy.
      preserveTimestamps: true,
      filter: (path) => !leftOut.has(basename(path)),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  await runNpm(['pack', '--workspace', 'holdfast', '--pack-destination', folder], copy);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm made no tarball');
  return join(folder, tarball);
}
