import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/domain';

/** The version of the programs that the embedded server is tested with. */
export const binariesVersion = '17.10.0-beta.17';

const folderPrefix = 'holdfast-testing-';

// Nothing in it outlives the tests, so nothing is gained by waiting for the disk.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

let starting: Promise<string> | undefined;

/**
 * The connection string of the embedded server of this process, which is started by the first call and ends with the
 * process.
 *
 * @throws HoldfastError `test_server_missing` when the npm package with the programs is not installed
 */
export function embeddedServer(): Promise<string> {
  starting ??= start().catch((error: unknown) => {
    // The next call tries again.
    starting = undefined;
    throw error;
  });
  return starting;
}

async function start(): Promise<string> {
  removeLeftovers();
  // Only now, so that a given server needs none of it.
  const { startPostgres } = await import('@holdfast/embedded-postgres');
  const folder = join(tmpdir(), `${folderPrefix}${String(process.pid)}`);
  mkdirSync(folder, { recursive: true });
  // The server's account must be able to enter when the tests are run by root.
  chmodSync(folder, 0o755);
  try {
    const server = await startPostgres({ dataDir: join(folder, 'pg'), settings });
    process.once('beforeExit', () => {
      starting = undefined;
      void server.stop('immediate').then(() => {
        rmSync(folder, { recursive: true, force: true });
      });
    });
    return server.url;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw isMissing(error) ? missing(error) : error;
  }
}

function isMissing(error: unknown): error is Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'embedded_postgres_unsupported_platform';
}

function missing(cause: Error): HoldfastError {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const library = `@embedded-postgres/${platform}-${process.arch}@${binariesVersion}`;
  return new HoldfastError(
    'There is no PostgreSQL for the tests. Give createTestHoldfast the connectionString of a server, set ' +
      `HOLDFAST_TEST_DATABASE_URL, or install one: npm install --save-dev ${library} (${reasonOf(cause)})`,
    // Without the cause: all that it would add are the folders where the package was looked for.
    { code: 'test_server_missing' },
  );
}

/** What is wrong, without the advice for those who run the whole of Holdfast. */
function reasonOf({ message }: Error): string {
  const sentences = message.split(/(?<=\.)\s/);
  return sentences.filter((sentence) => !sentence.includes('DATABASE_URL')).join(' ');
}

/** Of processes that were killed before they could clean up; their servers have ended with them. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(name.slice(folderPrefix.length));
    if (!name.startsWith(folderPrefix) || !Number.isInteger(pid) || isAlive(pid)) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It belongs to another account.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // There is one, and it is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
