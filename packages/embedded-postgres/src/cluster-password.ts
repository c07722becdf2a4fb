import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/**
 * The superuser's password, kept beside the data directory in `<data dir>-password` (mode 0600) and
 * made on the first call. Processes that start at once agree on one.
 */
export function makePassword(dataDir: string): string {
  const file = passwordFileOf(dataDir);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
  try {
    // A link appears with its whole text, or fails because another process was first.
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readPassword(dataDir);
}

/** The password of a cluster that exists. Throws when its file was lost. */
export function readPassword(dataDir: string): string {
  const file = passwordFileOf(dataDir);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'embedded_postgres_data_dir_unusable',
      `The password of the cluster in ${dataDir} cannot be read from ${file}. ` +
        'Restore that file, or start over with an empty data directory (npm run reset).',
      { cause },
    );
  }
}

function passwordFileOf(dataDir: string): string {
  return `${dataDir}-password`;
}
