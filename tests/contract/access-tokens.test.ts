import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { SignJWT, decodeJwt, decodeProtectedHeader } from 'jose';
import type { JWTPayload } from 'jose';
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

/** A token that is like a real one but for what is given. */
function forge(
  claims: JWTPayload,
  {
    header = {},
    signWith = key?.privateKey,
  }: { header?: object; signWith?: KeyObject | undefined } = {},
): Promise<string> {
  if (signWith === undefined) throw new Error('The secret gives a key');
  const real = decodeJwt(api.ownerToken);
  return new SignJWT({ ...real, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: key?.kid ?? '', ...header })
    .sign(signWith);
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
  expect(decodeProtectedHeader(api.ownerToken)).toEqual({
    alg: 'EdDSA',
    typ: 'at+jwt',
    kid: key?.kid,
  });
  const claims = decodeJwt(api.ownerToken);
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
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(600);
});

it('is accepted when forged with our own key and nothing changed, so that the refusals below mean something', async () => {
  expect((await api.send('GET', '/api/v1/auth/me', { token: await forge({}) })).status).toBe(200);
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
    await expectRefused(await forge(claims as JWTPayload));
  });

  it('that is over, is not valid yet, or lives too long', async () => {
    const now = seconds();
    await expectRefused(await forge({ iat: now - 700, nbf: now - 700, exp: now - 100 }));
    await expectRefused(await forge({ nbf: now + 300 }));
    await expectRefused(await forge({ iat: now - 3_600, exp: now + 3_600 }));
    await expectRefused(await forge({ iat: now + 3_600 }));
  });

  it.each([
    ['of another type', { typ: 'JWT' }],
    ['of a refresh type', { typ: 'rt+jwt' }],
    ['without a key id', { kid: undefined }],
    ['with a path as key id', { kid: '../../../../dev/null' }],
    ['with a URL as key id', { kid: 'https://evil.example/jwks.json' }],
    ['with a prototype as key id', { kid: '__proto__' }],
  ])('%s', async (_, header) => {
    await expectRefused(await forge({}, { header }));
  });

  it('that brings its own key', async () => {
    const own = generateKeyPairSync('ed25519');
    const jwk = own.publicKey.export({ format: 'jwk' });
    for (const header of [{ jwk }, { jku: 'https://evil.example' }, { kid: key?.kid, jwk }]) {
      await expectRefused(await forge({}, { header, signWith: own.privateKey }));
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
    const changed = encode({ ...decodeJwt(api.ownerToken), exp: seconds() + 500 });
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
