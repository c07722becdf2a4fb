import { randomUUID } from 'node:crypto';
import { isUuid } from '@holdfast/domain';
import { SignJWT, jwtVerify } from 'jose';
import type { TokenKey } from './derived-keys.ts';

const issuer = 'holdfast';
const audience = 'holdfast-api';
const type = 'at+jwt';
const algorithm = 'EdDSA';
const longestToken = 4_096;

/** How long an access token lives. */
export const accessTokenSeconds = 600;

/** Who an access token speaks for. It says nothing of roles: those are looked up at every request. */
export interface TokenSubject {
  readonly userId: string;
  readonly sessionId: string;
}

/** Makes and checks access tokens (JWT, RFC 9068 type, one fixed algorithm as RFC 8725 advises). */
export interface AccessTokens {
  sign(subject: TokenSubject): Promise<string>;
  /** Answers whom the token speaks for, or `undefined` for every token that is not a valid one of ours. */
  verify(token: string): Promise<TokenSubject | undefined>;
}

/** Access tokens signed with the first key and verified with any. */
export function createAccessTokens(keys: readonly TokenKey[], nowMs: () => number): AccessTokens {
  const [current] = keys;
  if (current === undefined) throw new TypeError('At least one key is needed');
  const byKid = new Map(keys.map((key) => [key.kid, key.publicKey]));
  return {
    sign({ userId, sessionId }) {
      const nowSeconds = Math.floor(nowMs() / 1_000);
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: current.kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setJti(randomUUID())
        .setIssuedAt(nowSeconds)
        .setNotBefore(nowSeconds)
        .setExpirationTime(nowSeconds + accessTokenSeconds)
        .sign(current.privateKey);
    },
    async verify(token) {
      if (token.length > longestToken) return undefined;
      try {
        const { payload } = await jwtVerify(token, (header) => keyOf(byKid, header.kid), {
          algorithms: [algorithm],
          issuer,
          audience,
          typ: type,
          requiredClaims: ['sub', 'sid', 'exp', 'iat', 'nbf', 'jti'],
          maxTokenAge: accessTokenSeconds,
          clockTolerance: 30,
          currentDate: new Date(nowMs()),
        });
        const { sub, sid } = payload;
        if (typeof sub !== 'string' || typeof sid !== 'string') return undefined;
        return isUuid(sub) && isUuid(sid) ? { userId: sub, sessionId: sid } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

function keyOf<Key>(byKid: ReadonlyMap<string, Key>, kid: string | undefined): Key {
  const key = kid === undefined ? undefined : byKid.get(kid);
  if (key === undefined) throw new Error('The token names no key of ours');
  return key;
}
