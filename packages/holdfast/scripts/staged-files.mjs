import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What is in the folder only while it is being packed. */
export const staged = {
  /** Compiled code as it is published. */
  code: 'lib',
  /** Copies from the root of the workspace. */
  texts: ['LICENSE', 'CHANGELOG.md'],
  /** The package.json of the workspace. */
  manifestBackup: '.package.workspace.json',
};

/** Takes away what was put there for packing. Does nothing when nothing was. */
export function restore(folder) {
  for (const name of [staged.code, ...staged.texts]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const backup = join(folder, staged.manifestBackup);
  if (existsSync(backup)) renameSync(backup, join(folder, 'package.json'));
}
