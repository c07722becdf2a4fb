import { createHash, createHmac, randomBytes } from 'node:crypto';
import {
  insertRefreshToken,
  insertSession,
  lockRefreshToken,
  markRefreshTokenUsed,
  revokeSession,
} from '@holdfast/database';
import type { Database, NewSession, Queryable } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';

/** A session ends this long after its sign-in, whatever happens. */
export const sessionLifeMs = 30 * 86_400_000;

/** A session ends when it was not refreshed for this long. */
export const sessionIdleMs = 7 * 86_400_000;

// Two tabs that refresh at once present the same token twice.
const graceMs = 10_000;

/** A session with the refresh token that continues it. */
export interface OpenSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly refreshToken: string;
}

/** What presenting a refresh token came to. */
export type Rotation =
  | { readonly kind: 'rotated'; readonly session: OpenSession }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'reused'; readonly sessionId: string; readonly userId: string };

/** Starts a session: one family of refresh tokens, each used once. */
export async function startSession(
  tx: Queryable,
  request: Omit<NewSession, 'id' | 'lifeMs'> & { readonly nowMs: number },
): Promise<OpenSession> {
  const { nowMs, ...session } = request;
  const sessionId = uuidV7(nowMs);
  const refreshToken = randomBytes(32).toString('base64url');
  await insertSession(tx, { ...session, id: sessionId, lifeMs: sessionLifeMs });
  await insertRefreshToken(tx, { hash: sha256(refreshToken), sessionId, idleMs: sessionIdleMs });
  return { sessionId, userId: session.userId, refreshToken };
}

/**
 * Exchanges a refresh token for its successor, in one transaction.
 *
 * The successor is an HMAC of the token, so a second tab within ten seconds gets the same one although no token is
 * ever stored. A used token that comes later was stolen, or its thief came first: the whole session ends.
 */
export function rotateSession(
  database: Database,
  request: { readonly refreshToken: string; readonly key: Buffer },
): Promise<Rotation> {
  const { refreshToken, key } = request;
  return database.transaction(async (tx): Promise<Rotation> => {
    const hash = sha256(refreshToken);
    const found = await lockRefreshToken(tx, hash, graceMs);
    if (found?.valid !== true) return { kind: 'invalid' };
    const { session_id: sessionId, user_id: userId } = found;
    if (found.used && !found.within_grace) {
      await revokeSession(tx, sessionId, 'refresh_token_reused');
      return { kind: 'reused', sessionId, userId };
    }
    const successor = createHmac('sha256', key).update(refreshToken).digest('base64url');
    if (!found.used) {
      await markRefreshTokenUsed(tx, hash);
      await insertRefreshToken(tx, { hash: sha256(successor), sessionId, idleMs: sessionIdleMs });
    }
    return { kind: 'rotated', session: { sessionId, userId, refreshToken: successor } };
  });
}

/** Ends the session of a refresh token, if there is one. */
export function endSession(database: Database, refreshToken: string): Promise<void> {
  return database.transaction(async (tx) => {
    const found = await lockRefreshToken(tx, sha256(refreshToken), graceMs);
    if (found !== undefined) await revokeSession(tx, found.session_id, 'logout');
  });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
