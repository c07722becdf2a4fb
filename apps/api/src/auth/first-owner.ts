import { randomBytes } from 'node:crypto';
import { hasNoUsers, insertUser, setMembership } from '@holdfast/database';
import type { Database } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { Passwords } from './passwords.ts';

/** Who the first owner is to be, as configured. */
export interface OwnerSettings {
  readonly email: string | undefined;
  readonly password: string | undefined;
}

/** The owner that was made; `password` only when it was generated, and then it must be changed. */
export interface MadeOwner {
  readonly email: string;
  readonly password: string | undefined;
}

/** Makes the owner of the project `default` when nobody can sign in yet; safe when several processes start at once. */
export async function ensureOwner(
  database: Database,
  options: {
    readonly passwords: Passwords;
    readonly settings: OwnerSettings;
    readonly nowMs: number;
  },
): Promise<MadeOwner | undefined> {
  if (!(await hasNoUsers(database))) return undefined;
  const { passwords, settings, nowMs } = options;
  const email = (settings.email ?? 'admin@holdfast.local').toLowerCase();
  const generated =
    settings.password === undefined ? randomBytes(15).toString('base64url') : undefined;
  const passwordHash = await passwords.hash(settings.password ?? generated ?? '');
  const user = {
    id: uuidV7(nowMs),
    email,
    passwordHash,
    mustChangePassword: generated !== undefined,
  };
  const made = await database.transaction(async (tx) => {
    if (!(await insertUser(tx, user))) return false;
    await setMembership(tx, { project: 'default', userId: user.id, role: 'owner' });
    return true;
  });
  return made ? { email, password: generated } : undefined;
}
