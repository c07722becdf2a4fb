import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { defaultCacheDir } from './cache-folder.ts';
import { inspectDataDirectory, substituteParent } from './data-directory.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { readPostmaster } from './postmaster-pid.ts';

/** Which cluster is removed. */
export interface RemoveDataDirectoryOptions {
  readonly dataDir: string;
  /** The same as was given at the start. */
  readonly cacheDir?: string;
}

/**
 * Removes a cluster with its password, log and notes, also where it had to live elsewhere.
 * Throws `embedded_postgres_data_dir_in_use` while its server runs, and
 * `embedded_postgres_data_dir_unusable` when the folder holds other things.
 */
export function removeDataDirectory({ dataDir, cacheDir }: RemoveDataDirectoryOptions): void {
  const substitute = substituteParent(dataDir, cacheDir ?? defaultCacheDir());
  const moved = join(substitute, basename(dataDir));
  for (const place of [dataDir, moved]) {
    refuseRunning(place);
    inspectForRemoval(place);
  }
  for (const suffix of ['', '-password', '-watchdog.pid', '.log']) {
    rmSync(`${dataDir}${suffix}`, { recursive: true, force: true });
  }
  rmSync(substitute, { recursive: true, force: true });
}

function refuseRunning(dataDir: string): void {
  if (readPostmaster(dataDir) === undefined) return;
  throw new EmbeddedPostgresError(
    'embedded_postgres_data_dir_in_use',
    `A PostgreSQL server runs in ${dataDir}. Stop Holdfast first.`,
  );
}

function inspectForRemoval(dataDir: string): void {
  try {
    inspectDataDirectory(dataDir);
  } catch (error) {
    // The data of another PostgreSQL is just what a person may want to be rid of.
    const isOtherVersion =
      error instanceof EmbeddedPostgresError && error.code === 'embedded_postgres_wrong_version';
    if (!isOtherVersion) throw error;
  }
}
