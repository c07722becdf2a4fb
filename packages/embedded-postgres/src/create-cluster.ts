import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectDataDirectory, makePrivateDirectory } from './data-directory.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { programPath } from './native-binaries.ts';
import { serverEnvironment } from './server-environment.ts';
import type { NativeBinaries } from './native-binaries.ts';
import type { ServerUser } from './server-user.ts';

/** The superuser of every embedded cluster. */
export const superuser = 'holdfast';

/** What a new cluster is made with. */
export interface CreateClusterOptions {
  readonly dataDir: string;
  readonly binaries: NativeBinaries;
  readonly user: ServerUser;
  readonly password: string;
  /** False skips the flush to disk, for clusters that are thrown away. */
  readonly isDurable: boolean;
}

/**
 * Makes a cluster with data checksums and password authentication. It is made beside its place and
 * then renamed, so that it appears whole or not at all, whenever the process is killed and however
 * many of them start at once.
 */
export async function createCluster(options: CreateClusterOptions): Promise<void> {
  const draft = mkdtempSync(`${options.dataDir}.draft-`);
  rmSync(draft, { recursive: true });
  makePrivateDirectory(draft, options.user);
  try {
    await withPasswordFile(options, (passwordFile) => runInitdb(options, { draft, passwordFile }));
    moveIntoPlace(draft, options.dataDir);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function moveIntoPlace(draft: string, dataDir: string): void {
  if (inspectDataDirectory(dataDir) === 'made') return;
  rmSync(dataDir, { recursive: true, force: true });
  try {
    renameSync(draft, dataDir);
  } catch (error) {
    // Another process may have moved its own cluster here a moment ago; both have one password.
    if (inspectDataDirectory(dataDir) !== 'made') throw error;
  }
}

async function withPasswordFile(
  { user, password }: CreateClusterOptions,
  use: (passwordFile: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-initdb-'));
  try {
    const file = join(folder, 'password');
    writeFileSync(file, password, { mode: 0o600 });
    if (user.uid !== undefined && user.gid !== undefined) {
      chownSync(file, user.uid, user.gid);
      chownSync(folder, user.uid, user.gid);
    }
    await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runInitdb(
  { binaries, user, isDurable }: CreateClusterOptions,
  { draft, passwordFile }: { readonly draft: string; readonly passwordFile: string },
): Promise<void> {
  const flags = [`--pgdata=${draft}`, `--username=${superuser}`, `--pwfile=${passwordFile}`];
  // The built-in locale sorts alike on every platform.
  flags.push('--encoding=UTF8', '--locale=C');
  flags.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  flags.push('--auth=scram-sha-256', '--data-checksums', '--no-instructions');
  if (!isDurable) flags.push('--no-sync');
  const child = spawn(programPath(binaries, 'initdb'), flags, {
    ...user,
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (exitCode === 0) return;
  throw new EmbeddedPostgresError(
    'embedded_postgres_failed_to_start',
    `PostgreSQL could not prepare its data directory:\n${output.trim()}\n` +
      'DATABASE_URL lets you use a server of your own instead.',
  );
}
