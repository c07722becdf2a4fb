import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A key pair for access tokens; `kid` names it inside of them. */
export interface TokenKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Everything that the API derives from its secrets: the first key of each list is used, the others are still accepted. */
export interface DerivedKeys {
  readonly tokens: readonly TokenKey[];
  readonly cursors: readonly Buffer[];
  /** Makes the successor of a refresh token. */
  readonly refresh: Buffer;
  /** Makes the secret of an API key that is created under an idempotency key. */
  readonly apiKeys: Buffer;
}

/** Derives every key by HKDF-SHA256 (RFC 5869), each for one purpose. */
export function deriveKeys(secrets: readonly string[]): DerivedKeys {
  const [current] = secrets;
  if (current === undefined) throw new TypeError('At least one secret is needed');
  return {
    tokens: secrets.map(tokenKey),
    cursors: secrets.map((secret) => derive(secret, 'cursor')),
    refresh: derive(current, 'refresh-token'),
    apiKeys: derive(current, 'api-key'),
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'holdfast', `holdfast/${purpose}/v1`, 32));
}

// RFC 8410: an Ed25519 private key in PKCS #8 is this prefix and the seed.
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function tokenKey(secret: string): TokenKey {
  const seed = derive(secret, 'access-token');
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const kid = derive(secret, 'access-token-id').toString('base64url').slice(0, 16);
  return { kid, privateKey, publicKey: createPublicKey(privateKey) };
}
