import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deriveApiKey, isSameHash, makeApiKey, parseApiKey } from '../src/auth/api-keys.ts';
import { deriveKeys } from '../src/auth/derived-keys.ts';
import { createCursors } from '../src/http/cursors.ts';
import { percentilesOf } from '../src/presenters/percentiles.ts';

describe('API keys', () => {
  it('are taken apart as they were made', () => {
    const made = makeApiKey();
    const parsed = parseApiKey(made.key);
    expect(parsed?.id).toBe(made.id);
    expect(isSameHash(parsed?.secretHash ?? Buffer.alloc(0), made.secretHash)).toBe(true);
  });

  it('show a typing error without a look at the database', () => {
    const { key } = makeApiKey();
    for (let at = 8; at < key.length; at += 1) {
      const other = key.charAt(at) === 'x' ? 'y' : 'x';
      expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBeUndefined();
    }
  });

  it('are the same for the same request and secret, and for no other', () => {
    const key = randomBytes(32);
    const made = deriveApiKey(key, ['project', 'k']);
    expect(deriveApiKey(key, ['project', 'k']).key).toBe(made.key);
    expect(deriveApiKey(key, ['project', 'l']).key).not.toBe(made.key);
    expect(deriveApiKey(randomBytes(32), ['project', 'k']).key).not.toBe(made.key);
  });
});

describe('derived keys', () => {
  it('differ by purpose and by secret', () => {
    const keys = deriveKeys(['a'.repeat(32), 'b'.repeat(32)]);
    const all = [...keys.cursors, keys.refresh, keys.apiKeys].map((key) => key.toString('hex'));
    expect(new Set(all).size).toBe(all.length);
    expect(new Set(keys.tokens.map(({ kid }) => kid)).size).toBe(2);
  });
});

describe('cursors', () => {
  const scope = { list: 'jobs', projectId: 'p' };

  it('are read by whoever has the secret, the one before included, for a day', () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)];
    const time = { nowMs: 1_000_000_000 };
    const cursor = createCursors([older], () => time.nowMs).write(scope, ['x', '1']);
    const cursors = createCursors([newer, older], () => time.nowMs);
    expect(cursors.read(scope, cursor)).toEqual(['x', '1']);
    expect(cursors.read(scope, undefined)).toBeUndefined();
    expect(() => createCursors([newer], () => time.nowMs).read(scope, cursor)).toThrow();
    expect(() => cursors.read({ ...scope, projectId: 'q' }, cursor)).toThrow();
    time.nowMs += 86_401_000;
    expect(() => cursors.read(scope, cursor)).toThrow();
  });
});

describe('percentiles', () => {
  it('lie within the bucket that holds them', () => {
    const buckets = Array.from({ length: 48 }, () => 0);
    expect(percentilesOf(buckets)).toEqual({ p50: null, p95: null });
    buckets[10] = 90;
    buckets[20] = 10;
    const { p50, p95 } = percentilesOf(buckets);
    expect(p50).toBeGreaterThan(2 ** 4.5);
    expect(p50).toBeLessThanOrEqual(2 ** 5);
    expect(p95).toBeGreaterThan(2 ** 9.5);
    expect(p95).toBeLessThanOrEqual(2 ** 10);
  });
});
