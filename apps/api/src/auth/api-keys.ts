import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 8;
const secretLength = 43;
const checksumLength = 6;
const form = /^hf_live_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** What every API key starts with, so that secret scanners and people recognise it. */
export const apiKeyPrefix = 'hf_live_';

/** An API key taken apart. */
export interface ApiKeyParts {
  readonly id: string;
  /** SHA-256 of the secret; the secret is random enough that a slow hash would add nothing. */
  readonly secretHash: Buffer;
}

/** A new API key: its parts to store, and the key itself to show once. */
export interface NewKey extends ApiKeyParts {
  readonly key: string;
}

/** Makes a key: `hf_live_<id>_<secret><checksum>`. */
export function makeApiKey(): NewKey {
  return assemble(toBase62(randomBytes(16), idLength), toBase62(randomBytes(40), secretLength));
}

/**
 * Makes the key that belongs to a request with an idempotency key: the same for each repetition, so that it can be
 * answered again although it was never stored.
 */
export function deriveApiKey(derivationKey: Buffer, request: readonly string[]): NewKey {
  const bytes = (part: string): Buffer =>
    createHmac('sha512', derivationKey)
      .update(JSON.stringify([part, ...request]))
      .digest();
  return assemble(toBase62(bytes('id'), idLength), toBase62(bytes('secret'), secretLength));
}

/** Takes a key apart; `undefined` when it is none, a typing error included, which the checksum shows. */
export function parseApiKey(key: string): ApiKeyParts | undefined {
  const [, id, secret, checksum] = form.exec(key) ?? [];
  if (id === undefined || secret === undefined || checksum !== checksumOf(id, secret)) {
    return undefined;
  }
  return { id, secretHash: hashOf(secret) };
}

/** Compares two hashes in constant time. */
export function isSameHash(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

function assemble(id: string, secret: string): NewKey {
  const key = `${apiKeyPrefix}${id}_${secret}${checksumOf(id, secret)}`;
  return { id, secretHash: hashOf(secret), key };
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function checksumOf(id: string, secret: string): string {
  const digest = createHash('sha256').update(`holdfast-key:${id}:${secret}`).digest();
  return toBase62(digest, checksumLength);
}

function toBase62(bytes: Buffer, length: number): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < length) {
    text += alphabet.charAt(Number(value % 62n));
    value /= 62n;
  }
  return text;
}
