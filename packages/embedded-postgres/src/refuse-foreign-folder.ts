import { lstatSync } from 'node:fs';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/**
 * Refuses a folder that this process's own account did not make, or that others can write to: its place has a name
 * that everybody knows, and others can write to /var/tmp too.
 * Throws `embedded_postgres_data_dir_unusable`.
 */
export function refuseForeignFolder(folder: string): void {
  // Not followed: a link leads wherever somebody else likes.
  const stats = lstatSync(folder);
  const owner = process.getuid?.();
  const isOwn = stats.isDirectory() && (owner === undefined || stats.uid === owner);
  if (isOwn && (stats.mode & 0o022) === 0) return;
  throw new EmbeddedPostgresError(
    'embedded_postgres_data_dir_unusable',
    `${folder} was made by somebody else. Remove it, or choose another folder.`,
  );
}
