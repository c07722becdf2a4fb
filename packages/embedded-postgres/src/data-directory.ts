import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { refuseForeignFolder } from './refuse-foreign-folder.ts';
import { canEnter } from './server-user.ts';
import type { ServerUser } from './server-user.ts';

const supportedMajor = '17';

// What initdb leaves in a directory; anything else there belongs to somebody and is never removed.
const clusterEntry = /^(base|global|pg_\w+|postgresql(\.auto)?\.conf|PG_VERSION|postmaster\.\w+)$/;

/** `made` holds a usable cluster, `absent` has nothing to lose, `half_made` is what a crash left. */
export type DataDirectoryState = 'absent' | 'half_made' | 'made';

/** Where a cluster is wanted, and who must get there. */
export interface PlaceOptions {
  readonly dataDir: string;
  readonly user: ServerUser;
  /** A folder that everybody can enter, for a data directory behind a closed door. */
  readonly cacheDir: string;
  readonly onProgress: (message: string) => void;
}

/**
 * The directory that will hold the cluster: the wanted one, or, when the server's account cannot get
 * there, one below the cache folder that always is the same for the same wish.
 */
export function placeDataDirectory({ dataDir, user, cacheDir, onProgress }: PlaceOptions): string {
  const wanted = resolve(dataDir);
  mkdirSync(dirname(wanted), { recursive: true, mode: 0o755 });
  if (canEnter(user, dirname(wanted))) return wanted;
  const parent = substituteParent(wanted, cacheDir);
  mkdirSync(parent, { recursive: true, mode: 0o755 });
  refuseForeignFolder(parent);
  onProgress(`PostgreSQL's account cannot enter ${dirname(wanted)}; its data is in ${parent}`);
  return join(parent, basename(wanted));
}

/** The folder below the cache folder that stands in for the parent of a data directory. */
export function substituteParent(dataDir: string, cacheDir: string): string {
  const hash = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12);
  return join(cacheDir, `holdfast-data-${process.getuid?.() ?? 0}-${hash}`);
}

/** Looks at a data directory without changing it. Throws when it is not ours to use. */
export function inspectDataDirectory(dataDir: string): DataDirectoryState {
  const entries = readEntries(dataDir);
  if (entries.length === 0) return 'absent';
  const strangers = entries.filter((entry) => !clusterEntry.test(entry));
  if (!existsSync(join(dataDir, 'PG_VERSION')) && strangers.length > 0) {
    throw new EmbeddedPostgresError(
      'embedded_postgres_data_dir_unusable',
      `${dataDir} holds other files (${strangers.slice(0, 3).join(', ')}). Choose another folder.`,
    );
  }
  if (!existsSync(join(dataDir, 'global', 'pg_control'))) return 'half_made';
  if (!existsSync(join(dataDir, 'PG_VERSION'))) return 'half_made';
  requireMajor(dataDir);
  return 'made';
}

/** Makes an empty private directory owned by the server's account. */
export function makePrivateDirectory(path: string, user: ServerUser): void {
  mkdirSync(path, { mode: 0o700 });
  chmodSync(path, 0o700);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid);
}

function readEntries(dataDir: string): readonly string[] {
  if (!existsSync(dataDir)) return [];
  try {
    return readdirSync(dataDir);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'embedded_postgres_data_dir_unusable',
      `${dataDir} belongs to another account and cannot be read. ` +
        'Start as the account that made it, or choose another data directory.',
      { cause },
    );
  }
}

function requireMajor(dataDir: string): void {
  const major = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  if (major === supportedMajor) return;
  throw new EmbeddedPostgresError(
    'embedded_postgres_wrong_version',
    `${dataDir} was made by PostgreSQL ${major}, and the bundled server is ${supportedMajor}. ` +
      'Start over with an empty data directory (npm run reset), or run your own server on it ' +
      'and set DATABASE_URL.',
  );
}
