import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** The account that runs the server. Undefined ids mean "whoever runs this process". */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

// Accounts that exist on nearly every system, from the best suited to the last resort.
const candidateNames = ['postgres', 'nobody', 'daemon'];

/**
 * Chooses who runs the server. PostgreSQL refuses to run as root, so root hands over to the owner of
 * an existing data directory, else to a system account; no account is ever created.
 */
export function chooseServerUser(dataDir: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  return ownerOf(dataDir) ?? systemAccount();
}

/** Whether the account can pass through every folder on the way to this one. */
export function canEnter(user: ServerUser, folder: string): boolean {
  if (user.uid === undefined) return true;
  const probe = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/' });
  return probe.status === 0;
}

function ownerOf(dataDir: string): ServerUser | undefined {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  return stats === undefined || stats.uid === 0 ? undefined : { uid: stats.uid, gid: stats.gid };
}

function systemAccount(): ServerUser {
  const accounts = readAccounts();
  for (const name of candidateNames) {
    const account = accounts.get(name);
    if (account !== undefined) return account;
  }
  throw new EmbeddedPostgresError(
    'embedded_postgres_unsupported_platform',
    `PostgreSQL does not run as root, and none of the accounts ${candidateNames.join(', ')} exists. ` +
      'Run as an ordinary user, or set DATABASE_URL to a server of your own.',
  );
}

function readAccounts(): Map<string, ServerUser> {
  const accounts = new Map<string, ServerUser>();
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name !== undefined && uid !== undefined && gid !== undefined) {
      accounts.set(name, { uid: Number(uid), gid: Number(gid) });
    }
  }
  return accounts;
}
