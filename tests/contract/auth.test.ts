import { createHash } from 'node:crypto';
import { issueSignInTicket } from '@holdfast/database';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { owner, startTestApi } from './support/test-api.ts';
import type { SendOptions, Sent, TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const auth = (route: string, options: SendOptions = {}): Promise<Sent> =>
  api.send('POST', `/api/v1/auth/${route}`, { token: null, ...options });

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

function cookieOf({ headers }: Sent): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

const refresh = (cookie: string, headers: Record<string, string> = sameOrigin): Promise<Sent> =>
  auth('refresh', { body: {}, headers: { cookie, ...headers } });

const meWith = (token: string): Promise<Sent> => api.send('GET', '/api/v1/auth/me', { token });

describe('signing in', () => {
  it('answers an access token, and the refresh token only as a cookie that scripts cannot read', async () => {
    const sent = await auth('login', { body: { ...owner, email: 'OWNER@example.com' } });
    expect(sent.status).toBe(200);
    expect(sent.json).toMatchObject({
      expiresIn: 600,
      user: {
        email: owner.email,
        passwordChangeRequired: false,
        memberships: [{ project: 'default', role: 'owner' }],
      },
    });
    const cookie = sent.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^holdfast_refresh=[\w-]{43};/);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).toMatch(/Path=\/api\/v1\/auth/);
    expect(sent.text).not.toContain(cookieOf(sent).split('=')[1]);
    expect((await meWith(String(sent.json.accessToken))).json['email']).toBe(owner.email);
  });

  it('answers alike for a wrong password and for nobody', async () => {
    const wrong = await auth('login', { body: { ...owner, password: 'wrong' } });
    const nobody = await auth('login', { body: { email: 'nobody@example.com', password: 'x' } });
    for (const { status, json } of [wrong, nobody]) {
      expect([status, json.code]).toEqual([401, 'credentials_invalid']);
    }
    expect({ ...wrong.json, requestId: '' }).toEqual({ ...nobody.json, requestId: '' });
  });

  it('refuses a huge password before it is hashed', async () => {
    const long = await auth('login', { body: { ...owner, password: 'x'.repeat(1_025) } });
    expect(long.status).toBe(422);
    const bytes = await auth('login', { body: { ...owner, password: '\u{1f600}'.repeat(400) } });
    expect(bytes.status).toBe(422);
    const huge = await auth('login', { body: { ...owner, password: 'x'.repeat(1_000_000) } });
    expect(huge.status).toBe(413);
  });

  it('takes the ticket of a one-time link once', async () => {
    const request = { email: owner.email, lifeMs: 60_000 };
    const ticket = await issueSignInTicket(api.db.database, request);
    const sent = await auth('ticket', { body: { ticket } });
    expect([sent.status, sent.json.user?.email]).toEqual([200, owner.email]);
    const again = await auth('ticket', { body: { ticket } });
    expect([again.status, again.json.code]).toEqual([401, 'ticket_invalid']);
  });

  it('refuses a ticket whose time is over', async () => {
    const request = { email: owner.email, lifeMs: -1 };
    const ticket = await issueSignInTicket(api.db.database, request);
    expect((await auth('ticket', { body: { ticket } })).status).toBe(401);
  });
});

describe('refreshing', () => {
  let cookie: string;
  beforeEach(async () => {
    cookie = cookieOf(await auth('login', { body: owner }));
  });

  /** Makes a token look as if it had been used long ago. */
  const ageUse = (used: string): Promise<unknown> => {
    const hash = createHash('sha256')
      .update(used.split('=')[1] ?? '')
      .digest('hex');
    return api.db.database.execute(
      `update holdfast.refresh_tokens set used_at = used_at - interval '11 seconds' where token_hash = '\\x${hash}'`,
    );
  };

  it('gives a new access token and a new cookie each time', async () => {
    const first = await refresh(cookie);
    expect(first.status).toBe(200);
    expect(cookieOf(first)).not.toBe(cookie);
    const second = await refresh(cookieOf(first));
    expect(second.status).toBe(200);
    expect((await meWith(String(second.json.accessToken))).status).toBe(200);
  });

  it('gives two tabs that refresh at once the same successor', async () => {
    const tabs = await Promise.all([refresh(cookie), refresh(cookie), refresh(cookie)]);
    expect(tabs.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(tabs.map(cookieOf)).size).toBe(1);
    expect((await refresh(cookieOf(tabs[0]))).status).toBe(200);
  });

  it('ends the whole session when a used token comes again later', async () => {
    const stolen = cookie;
    const next = await refresh(cookie);
    const accessToken = String(next.json.accessToken);
    await ageUse(stolen);
    const reuse = await refresh(stolen);
    expect([reuse.status, reuse.json.code]).toEqual([401, 'session_invalid']);
    expect(reuse.headers.get('set-cookie')).toMatch(/holdfast_refresh=;/);
    expect((await refresh(cookieOf(next))).status).toBe(401);
    expect((await meWith(accessToken)).status).toBe(401);
  });

  it('leaves the other sessions of the person alone when one ends', async () => {
    const other = cookieOf(await auth('login', { body: owner }));
    await refresh(cookie);
    await ageUse(cookie);
    await refresh(cookie);
    expect((await refresh(other)).status).toBe(200);
  });

  it('ends with a logout', async () => {
    const sent = await auth('logout', { body: {}, headers: { cookie, ...sameOrigin } });
    expect(sent.status).toBe(204);
    expect((await refresh(cookie)).status).toBe(401);
  });

  it.each(['', 'holdfast_refresh=', `holdfast_refresh=${'x'.repeat(43)}`, 'holdfast_refresh=a b'])(
    'answers 401 for the cookie "%s"',
    async (unknown) => {
      expect((await refresh(unknown)).status).toBe(401);
    },
  );

  it.each([
    [{}],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1' }],
  ])('refuses what another site may have sent: %j', async (headers) => {
    const sent = await refresh(cookie, headers);
    expect([sent.status, sent.json.code]).toEqual([403, 'cross_origin']);
    const logout = await auth('logout', {
      body: {},
      headers: { cookie, ...(headers as Record<string, string>) },
    });
    expect(logout.status).toBe(403);
  });

  it('takes an Origin that is its own', async () => {
    expect((await refresh(cookie, { origin: api.url })).status).toBe(200);
  });

  it('refuses what a form of another site could send', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const headers = { cookie, ...sameOrigin, 'content-type': type };
      expect((await auth('refresh', { body: '{}', headers })).status).toBe(415);
    }
    expect((await auth('refresh', { headers: { cookie, ...sameOrigin } })).status).toBe(415);
  });

  it('lets no other site sign a browser in', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await auth('login', { body: owner, headers })).status).toBe(403);
  });

  it('stores no token in the clear', async () => {
    const next = cookieOf(await refresh(cookie)).split('=')[1] ?? '';
    const rows = await api.db.database.query<{ found: boolean }>(
      {
        name: 'find_token_in_the_clear',
        text: `select exists (select 1 from holdfast.refresh_tokens as t where position($1 in t::text) > 0) as found`,
      },
      [next],
    );
    expect(rows).toEqual([{ found: false }]);
  });
});

describe('changing the password', () => {
  it('is demanded of the first owner when the password was generated', async () => {
    const fresh = await startTestApi();
    try {
      await fresh.db.database.execute(
        'update holdfast.users set password_change_required_at = clock_timestamp()',
      );
      const login = await fresh.send('POST', '/api/v1/auth/login', { body: owner, token: null });
      const token = String(login.json.accessToken);
      expect(login.json.user?.passwordChangeRequired).toBe(true);
      const refused = await fresh.inProject('GET', '/jobs', { token });
      expect([refused.status, refused.json.code]).toEqual([403, 'password_change_required']);
      expect((await fresh.send('GET', '/status', { token })).status).toBe(403);
      expect((await fresh.send('GET', '/api/v1/auth/me', { token })).status).toBe(200);
      const body = { currentPassword: owner.password, newPassword: 'another long password' };
      const changed = await fresh.send('POST', '/api/v1/auth/password', { body, token });
      expect(changed.json.user?.passwordChangeRequired).toBe(false);
      const newToken = String(changed.json.accessToken);
      expect((await fresh.inProject('GET', '/jobs', { token: newToken })).status).toBe(200);
      // Every session from before is over.
      expect((await fresh.inProject('GET', '/jobs', { token })).status).toBe(401);
      expect(
        (await fresh.send('POST', '/api/v1/auth/login', { body: owner, token: null })).status,
      ).toBe(401);
    } finally {
      await fresh.stop();
    }
  });

  it.each([
    [{ currentPassword: 'wrong', newPassword: 'a new long password' }, '/currentPassword'],
    [{ currentPassword: owner.password, newPassword: 'short' }, '/newPassword'],
    [{ currentPassword: owner.password, newPassword: owner.password }, '/newPassword'],
  ])('refuses %j', async (body, pointer) => {
    const sent = await api.send('POST', '/api/v1/auth/password', { body });
    expect(sent.status).toBe(422);
    expect(sent.json.errors?.[0]).toMatchObject({ pointer });
  });
});

describe('too many failed sign-ins', () => {
  const tryAs = (email: string, forwardedFor?: string): Promise<Sent> =>
    auth('login', {
      body: { email, password: 'wrong' },
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    });

  it('are 429 after five for one account from one address, right or wrong, whatever the address claims', async () => {
    const email = 'brute@example.com';
    for (let at = 0; at < 5; at += 1) {
      expect((await tryAs(email, `10.0.0.${at}`)).status).toBe(401);
    }
    const sent = await tryAs(email, '10.9.9.9');
    expect([sent.status, sent.json.code]).toEqual([429, 'rate_limited']);
    expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(60);
  });

  it('do not stop another account', async () => {
    expect((await auth('login', { body: owner })).status).toBe(200);
  });

  it('count per account when they come from many addresses behind a trusted proxy', async () => {
    const behind = await startTestApi({ trustedProxies: 1 });
    try {
      const statuses: number[] = [];
      for (let at = 0; at < 21; at += 1) {
        const sent = await behind.send('POST', '/api/v1/auth/login', {
          token: null,
          body: { email: 'spread@example.com', password: 'wrong' },
          headers: { 'x-forwarded-for': `10.0.${at}.1` },
        });
        statuses.push(sent.status);
      }
      expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
      expect(statuses[20]).toBe(429);
    } finally {
      await behind.stop();
    }
  });
});

it('marks the cookie as secure and binds it to the host when a trusted proxy speaks https', async () => {
  const behind = await startTestApi({ trustedProxies: 1 });
  try {
    const sent = await behind.send('POST', '/api/v1/auth/login', {
      token: null,
      body: owner,
      headers: { 'x-forwarded-proto': 'https' },
    });
    const cookie = sent.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^__Host-holdfast_refresh=/);
    expect(cookie).toMatch(/Secure/);
    expect(cookie).toMatch(/Path=\/;/);
  } finally {
    await behind.stop();
  }
});
