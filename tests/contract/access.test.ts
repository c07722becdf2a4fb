import { permissions, routes } from '@holdfast/contract';
import type { ApiKeyScope, Route } from '@holdfast/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;
const all = Object.entries<Route>(routes);
const ofProjects = all.flatMap(([name, route]) =>
  route.access.kind === 'project'
    ? [{ name, route, needed: permissions[route.access.permission] }]
    : [],
);

/** The path of a route with ids that nothing has. */
function pathOf(route: Route, project = 'default'): string {
  return route.path
    .replace('{project}', project)
    .replace('{queue}', 'nothing')
    .replace(
      '{id}',
      route.tag === 'API keys' ? 'AAAAAAAA' : '019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90',
    );
}

async function statusOf(route: Route, token: string | null, project?: string): Promise<number> {
  const body = route.body === undefined ? {} : { body: {} };
  const sent = await api.send(route.method.toUpperCase(), pathOf(route, project), {
    token,
    ...body,
  });
  return sent.status;
}

async function keyWith(...scopes: ApiKeyScope[]): Promise<string> {
  const made = await api.client.createApiKey({ params, body: { name: scopes.join(' '), scopes } });
  return made.key;
}

describe('every route that is not open', () => {
  const closed = all.filter(
    ([, { access }]) => !['public', 'session_cookie'].includes(access.kind),
  );
  it.each(closed)('%s answers 401 without credentials and with wrong ones', async (_, route) => {
    expect(await statusOf(route, null)).toBe(401);
    expect(await statusOf(route, 'nonsense')).toBe(401);
    expect(await statusOf(route, `hf_live_AAAAAAAA_${'a'.repeat(49)}`)).toBe(401);
  });
});

describe('every route of a project', () => {
  it.each(ofProjects)(
    '$name answers 404 for a project that is not the caller’s',
    async ({ route }) => {
      await api.db.database.execute(
        `insert into holdfast.projects (id, slug, name) values (gen_random_uuid(), 'other', 'Other') on conflict do nothing`,
      );
      expect(await statusOf(route, api.ownerToken, 'other')).toBe(404);
      expect(await statusOf(route, api.ownerToken, 'unheard-of')).toBe(404);
      expect(await statusOf(route, await keyWith('manage'), 'other')).toBe(404);
    },
  );

  it.each(ofProjects)(
    '$name is closed to API keys without its scope',
    async ({ route, needed }) => {
      const scopes: readonly ApiKeyScope[] = ['enqueue', 'read', 'manage'];
      for (const scope of scopes) {
        const status = await statusOf(route, await keyWith(scope));
        const isAllowed = needed.scope !== null && (scope === needed.scope || scope === 'manage');
        expect([scope, status === 403]).toEqual([scope, !isAllowed]);
      }
    },
  );

  it.each(['viewer', 'operator', 'admin', 'owner'] as const)(
    'is open to a %s as declared',
    async (role) => {
      await api.db.database.execute(`update holdfast.memberships set role = '${role}'`);
      const ranks = ['viewer', 'operator', 'admin', 'owner'];
      const wrong: string[] = [];
      for (const { name, route, needed } of ofProjects) {
        const isRefused = (await statusOf(route, api.ownerToken)) === 403;
        if (isRefused === ranks.indexOf(role) >= ranks.indexOf(needed.role)) wrong.push(name);
      }
      await api.db.database.execute(`update holdfast.memberships set role = 'owner'`);
      expect(wrong).toEqual([]);
    },
  );
});

/** Every role and route of this file has made a key of its own: more than a page. */
async function listAllKeys() {
  const all = [];
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? { limit: 200 } : { limit: 200, cursor };
    const page = await api.client.listApiKeys({ params, query });
    all.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

describe('API keys', () => {
  it('are shown once, listed by prefix, and never stored', async () => {
    const body = { name: 'ci', scopes: ['enqueue', 'read'] as ApiKeyScope[] };
    const made = await api.client.createApiKey({ params, body });
    expect(made.key).toMatch(/^hf_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
    const data = await listAllKeys();
    const listed = data.find((key) => key.id === made.id);
    expect(listed).toMatchObject({ ...body, prefix: `hf_live_${made.id}`, revokedAt: null });
    expect(JSON.stringify(data)).not.toContain(made.key);
    const secret = made.key.split('_')[3] ?? '';
    const rows = await api.db.database.query<{ found: boolean }>(
      {
        name: 'find_secret_in_the_clear',
        text: `select exists (select 1 from holdfast.api_keys as k where position($1 in k::text) > 0)
          or exists (select 1 from holdfast.idempotency_keys as i where position($1 in i::text) > 0) as found`,
      },
      [secret],
    );
    expect(rows).toEqual([{ found: false }]);
  });

  it('enqueue and read as their scopes say', async () => {
    const token = await keyWith('enqueue', 'read');
    const sent = await api.inProject('POST', '/jobs', { token, body: { type: 'from.key' } });
    expect(sent.status).toBe(201);
    expect((await api.inProject('GET', `/jobs/${sent.json.id}`, { token })).status).toBe(200);
    expect((await api.inProject('POST', `/jobs/${sent.json.id}/cancel`, { token })).status).toBe(
      403,
    );
    const projects = await api.send('GET', '/api/v1/projects', { token });
    expect(projects.json.data).toMatchObject([{ slug: 'default', role: null }]);
    expect((await api.send('GET', '/api/v1/auth/me', { token })).status).toBe(403);
  });

  it('are worth nothing once they are revoked, over, or mistyped', async () => {
    const made = await api.client.createApiKey({
      params,
      body: { name: 'gone', scopes: ['read'] },
    });
    const withKey = async (token: string) =>
      (await api.inProject('GET', '/jobs', { token })).status;
    expect(await withKey(made.key)).toBe(200);
    const last = made.key.endsWith('a') ? 'b' : 'a';
    expect(await withKey(made.key.slice(0, -1) + last)).toBe(401);
    await api.client.revokeApiKey({ params: { ...params, id: made.id } });
    expect(await withKey(made.key)).toBe(401);
    const expiresAt = '2020-01-01T00:00:00Z';
    const body = { name: 'over', scopes: ['read' as const], expiresAt };
    expect(await withKey((await api.client.createApiKey({ params, body })).key)).toBe(401);
  });

  it('are the same key again for the same idempotency key', async () => {
    const call = {
      params,
      body: { name: 'again', scopes: ['read' as const] },
      idempotencyKey: 'k1',
    };
    const first = await api.client.createApiKey(call);
    const { body, replayed } = await api.client.send('createApiKey', call);
    expect([body, replayed]).toEqual([first, true]);
    expect((await api.inProject('GET', '/jobs', { token: body.key })).status).toBe(200);
  });

  it('are not accepted in a query', async () => {
    const key = await keyWith('manage');
    expect((await api.inProject('GET', `/jobs?access_token=${key}`, { token: null })).status).toBe(
      401,
    );
  });
});
