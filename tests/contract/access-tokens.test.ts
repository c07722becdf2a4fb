import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveKeys } from '../../apps/api/src/auth/derived-keys.ts';
import { owner, secret, startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const [key] = deriveKeys([secret]).tokens;
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

type Claims = Readonly<Record<string, unknown>>;

/** One part of a token as JSON: 0 is its header, 1 its claims. */
function partOf(token: string, index: 0 | 1): Claims {
  const part = token.split('.')[index] ?? '';
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Claims;
}

/** What is special about a forged token besides its claims. */
interface Forgery {
  readonly header?: Claims;
  readonly signWith?: KeyObject | undefined;
}

/** A token that is like a real one but for what is given. */
function forge(claims: Claims, { header = {}, signWith = key?.privateKey }: Forgery = {}): string {
  if (signWith === undefined) throw new Error('The secret gives a key');
  const head = encode({ ...partOf(api.ownerToken, 0), ...header });
  const body = encode({ ...partOf(api.ownerToken, 1), ...claims });
  const signature = sign(null, Buffer.from(`${head}.${body}`), signWith).toString('base64url');
  return `${head}.${body}.${signature}`;
}

const seconds = (): number => Math.floor(Date.now() / 1_000);

async function expectRefused(token: string): Promise<void> {
  for (const path of ['/api/v1/auth/me', '/api/v1/projects', '/api/v1/projects/default/jobs']) {
    const sent = await api.send('GET', path, { token });
    expect([sent.status, sent.json.code]).toEqual([401, 'unauthenticated']);
    expect(sent.headers.get('www-authenticate')).toBe('Bearer');
  }
}

it('says who and which session, and nothing of rights', () => {
  expect(partOf(api.ownerToken, 0)).toEqual({
    alg: 'EdDSA',
    typ: 'at+jwt',
    kid: key?.kid,
  });
  const claims = partOf(api.ownerToken, 1);
  expect(Object.keys(claims).sort()).toEqual([
    'aud',
    'exp',
    'iat',
    'iss',
    'jti',
    'nbf',
    'sid',
    'sub',
  ]);
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(600);
});

it('is accepted when forged with our own key and nothing changed, so that the refusals below mean something', async () => {
  expect((await api.send('GET', '/api/v1/auth/me', { token: forge({}) })).status).toBe(200);
});

describe('a token is refused', () => {
  it.each([
    ['of another audience', { aud: 'dashboard' }],
    ['of another issuer', { iss: 'somebody' }],
    ['without an end', { exp: undefined }],
    ['without an id', { jti: undefined }],
    ['of nobody', { sub: undefined }],
    ['of another person', { sub: randomUUID() }],
    ['of another session', { sid: randomUUID() }],
    ['whose session is no id', { sid: "' or 1=1" }],
    ['whose person is no id', { sub: '../..' }],
  ])('%s', async (_, claims) => {
    await expectRefused(forge(claims));
  });

  it('that is over, is not valid yet, or lives too long', async () => {
    const now = seconds();
    await expectRefused(forge({ iat: now - 700, nbf: now - 700, exp: now - 100 }));
    await expectRefused(forge({ nbf: now + 300 }));
    await expectRefused(forge({ iat: now - 3_600, exp: now + 3_600 }));
    await expectRefused(forge({ iat: now + 3_600 }));
  });

  it.each([
    ['of another type', { typ: 'JWT' }],
    ['of a refresh type', { typ: 'rt+jwt' }],
    ['without a key id', { kid: undefined }],
    ['with a path as key id', { kid: '../../../../dev/null' }],
    ['with a URL as key id', { kid: 'https://evil.example/jwks.json' }],
    ['with a prototype as key id', { kid: '__proto__' }],
  ])('%s', async (_, header) => {
    await expectRefused(forge({}, { header }));
  });

  it('that brings its own key', async () => {
    const own = generateKeyPairSync('ed25519');
    const jwk = own.publicKey.export({ format: 'jwk' });
    for (const header of [{ jwk }, { jku: 'https://evil.example' }, { kid: key?.kid, jwk }]) {
      await expectRefused(forge({}, { header, signWith: own.privateKey }));
    }
  });

  it('without a signature, with algorithm none or HMAC', async () => {
    const [, claims = ''] = api.ownerToken.split('.');
    const publicPem = key?.publicKey.export({ type: 'spki', format: 'pem' }) ?? '';
    const header = (alg: string): string => encode({ alg, typ: 'at+jwt', kid: key?.kid });
    const hmac = `${header('HS256')}.${claims}`;
    const signature = createHmac('sha256', publicPem).update(hmac).digest('base64url');
    for (const token of [
      `${header('none')}.${claims}.`,
      `${header('None')}.${claims}.`,
      `${header('none')}.${claims}`,
      `${header('EdDSA')}.${claims}.`,
      `${hmac}.${signature}`,
    ]) {
      await expectRefused(token);
    }
  });

  it('whose claims or signature were changed', async () => {
    const [header = '', claims = '', signature = ''] = api.ownerToken.split('.');
    const flip = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    await expectRefused([header, claims, flip(signature)].join('.'));
    const changed = encode({ ...partOf(api.ownerToken, 1), exp: seconds() + 500 });
    await expectRefused([header, changed, signature].join('.'));
  });

  it.each(['x', 'a.b.c', `a.${'b'.repeat(10_000)}.c`, 'hf_live_12345678_x', '...', 'null'])(
    'that is none: %.20s',
    (token) => expectRefused(token),
  );

  it('that is a refresh token', async () => {
    const login = await api.send('POST', '/api/v1/auth/login', { body: owner, token: null });
    const cookie = login.headers.get('set-cookie') ?? '';
    await expectRefused(/=([\w-]{43})/.exec(cookie)?.[1] ?? '');
  });

  it('of a person who was disabled', async () => {
    await api.db.database.execute('update holdfast.users set disabled_at = clock_timestamp()');
    await expectRefused(api.ownerToken);
    await api.db.database.execute('update holdfast.users set disabled_at = null');
  });
});

it('does not show the project to a member who was removed, at once', async () => {
  await api.db.database.execute(`update holdfast.memberships set role = 'viewer'`);
  expect((await api.inProject('POST', '/jobs', { body: { type: 'x' } })).status).toBe(403);
  expect((await api.inProject('GET', '/jobs')).status).toBe(200);
  await api.db.database.execute('delete from holdfast.memberships');
  const sent = await api.inProject('GET', '/jobs');
  expect([sent.status, sent.json.code]).toEqual([404, 'project_not_found']);
  expect((await api.send('GET', '/api/v1/projects')).json.data).toEqual([]);
});

it('keeps tokens of the secret before valid when a new one is put in front', () => {
  const rotated = deriveKeys(['a new secret that is long enough, too', secret]);
  expect(rotated.tokens.map(({ kid }) => kid)).toContain(key?.kid);
  expect(rotated.tokens[0]?.kid).not.toBe(key?.kid);
});
