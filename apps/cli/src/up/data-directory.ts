import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where `holdfast up` keeps what must outlive it. */
export interface DataDirectory {
  readonly path: string;
  /** The cluster of the embedded PostgreSQL. */
  readonly postgresPath: string;
  readonly secretPath: string;
  readonly passwordPath: string;
  /** Opens a process's log file, emptied at its first start, and gives its descriptor. */
  openLog(processName: string, start: 'first' | 'again'): number;
  /** The last lines that a process wrote, to show when it failed. */
  readLogTail(processName: string): string;
}

const tailLength = 2_000;

/** Makes the directory when it is missing. Others may enter it, but its secrets are files of mode 0600. */
export function openDataDirectory(path: string): DataDirectory {
  // Not 0700: an embedded PostgreSQL that runs under another account must get to its own part.
  mkdirSync(join(path, 'logs'), { recursive: true });
  const logPath = (processName: string): string =>
    join(path, 'logs', `${processName.replaceAll(' ', '-')}.log`);
  return {
    path,
    postgresPath: join(path, 'pg'),
    secretPath: join(path, 'secret'),
    passwordPath: join(path, 'admin-password'),
    openLog: (processName, start) =>
      openSync(logPath(processName), start === 'first' ? 'w' : 'a', 0o600),
    readLogTail: (processName) => {
      const file = logPath(processName);
      return existsSync(file) ? readFileSync(file, 'utf8').slice(-tailLength) : '';
    },
  };
}

/** Makes a secret file with random content unless it is there; tells whether it was made now. */
export function ensureSecretFile(path: string, byteCount: number): 'made' | 'kept' {
  try {
    const content = randomBytes(byteCount).toString('base64url');
    writeFileSync(path, `${content}\n`, { mode: 0o600, flag: 'wx' });
    return 'made';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return 'kept';
    throw error;
  }
}
