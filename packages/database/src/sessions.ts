import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** A new sign-in. */
export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly method: 'password' | 'ticket';
  readonly userAgent: string | undefined;
  readonly ip: string | undefined;
  readonly lifeMs: number;
}

/** Stores a new sign-in, whose refresh tokens are its family. */
export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(statements.insertSession, [
    session.id,
    session.userId,
    session.method,
    session.userAgent ?? null,
    session.ip ?? null,
    session.lifeMs,
  ]);
}

/** Ends a session; its refresh tokens and access tokens are worth nothing from now on. */
export async function revokeSession(
  db: Queryable,
  sessionId: string,
  reason: string,
): Promise<void> {
  await db.query(statements.revokeSession, [sessionId, reason]);
}

/** Ends every session of a person. */
export async function revokeSessionsOfUser(
  db: Queryable,
  userId: string,
  reason: string,
): Promise<void> {
  await db.query(statements.revokeSessionsOfUser, [userId, reason]);
}

/** Stores the hash of a new refresh token. */
export async function insertRefreshToken(
  db: Queryable,
  token: { readonly hash: Buffer; readonly sessionId: string; readonly idleMs: number },
): Promise<void> {
  await db.query(statements.insertRefreshToken, [token.hash, token.sessionId, token.idleMs]);
}

/** How a refresh token stands, at the moment of its lock. */
export interface RefreshTokenRow {
  readonly session_id: string;
  readonly user_id: string;
  readonly used: boolean;
  /** Used so short ago that it was most likely another tab. */
  readonly within_grace: boolean;
  readonly valid: boolean;
}

/** Locks a refresh token until the end of the transaction. */
export async function lockRefreshToken(
  tx: Queryable,
  hash: Buffer,
  graceMs: number,
): Promise<RefreshTokenRow | undefined> {
  const [row] = await tx.query<RefreshTokenRow>(statements.lockRefreshToken, [hash, graceMs]);
  return row;
}

/** Marks a refresh token as used. */
export async function markRefreshTokenUsed(tx: Queryable, hash: Buffer): Promise<void> {
  await tx.query(statements.markRefreshTokenUsed, [hash]);
}
