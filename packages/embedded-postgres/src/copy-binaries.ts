import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { hydrateSymlinks } from './hydrate-symlinks.ts';
import { refuseForeignFolder } from './refuse-foreign-folder.ts';

/** What is copied, and to where. */
export interface CopyBinariesOptions {
  /** The `native` folder of the installed package. */
  readonly from: string;
  readonly cacheDir: string;
  readonly packageVersion: string;
  readonly onProgress: (message: string) => void;
}

/**
 * Copies the programs once to a folder that every account can read, and returns its `native` folder.
 * The copy is named after its version and owner, appears whole or not at all, and is only used when
 * this process's own account made it: others can write to /var/tmp too.
 */
export function copyBinaries(options: CopyBinariesOptions): string {
  const owner = process.getuid?.() ?? 0;
  const target = join(options.cacheDir, `holdfast-postgres-${options.packageVersion}-${owner}`);
  if (!existsSync(target)) makeCopy(options, target);
  refuseForeignFolder(target);
  return join(target, 'native');
}

function makeCopy({ from, cacheDir, onProgress }: CopyBinariesOptions, target: string): void {
  onProgress(`copying the PostgreSQL programs to ${target}`);
  const draft = mkdtempSync(join(cacheDir, 'holdfast-postgres-draft-'));
  const native = join(draft, 'native');
  cpSync(from, native, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  hydrateSymlinks(native);
  openToAll(draft);
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process may have finished its copy first; theirs is as good.
    if (!existsSync(target)) throw error;
  }
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}
