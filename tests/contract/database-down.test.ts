import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { openDatabase } from '@holdfast/database';
import { createSilentLogger } from '@holdfast/runtime';
import { createTestDatabase, waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApi } from '../../apps/api/src/api.ts';
import { owner, secret } from './support/test-api.ts';

/** A way to the database that can be cut, or made silent. */
interface Way {
  readonly url: string;
  set(state: 'open' | 'cut' | 'silent'): void;
  close(): void;
}

async function openWay(databaseUrl: string): Promise<Way> {
  const target = new URL(databaseUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  let state: 'open' | 'cut' | 'silent' = 'open';
  const server: Server = createServer((near) => {
    if (state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    near.on('data', (data) => (state === 'silent' ? undefined : far.write(data)));
    far.on('data', (data) => (state === 'silent' ? undefined : near.write(data)));
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  url.hostname = '127.0.0.1';
  const cutAll = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    url: url.href,
    set(next) {
      state = next;
      if (next === 'cut') cutAll();
      // What was asked in the silence is never answered: those connections are of no use any more.
      if (next === 'open') cutAll();
    },
    close() {
      cutAll();
      server.close();
    },
  };
}

let way: Way;
let url: string;
let token: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  const db = await createTestDatabase();
  way = await openWay(db.url);
  const database = openDatabase({
    connectionString: way.url,
    poolSize: 3,
    onIdleError: () => undefined,
  });
  const api = await createApi({
    database,
    logger: createSilentLogger(),
    config: {
      ...{ databaseUrl: way.url, schema: 'holdfast', poolSize: 3, isPooled: false },
      ...{ port: 0, host: '127.0.0.1', secrets: [secret], owner, webRoot: undefined },
      ...{ trustedProxies: 0, requestsPerMinute: 0, metricsToken: undefined },
      ...{ logLevel: 'silent', logFormat: 'json' },
    },
  });
  for (const service of api.services) await service.start();
  url = api.server.url;
  const login = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  });
  ({ accessToken: token } = (await login.json()) as { accessToken: string });
  stop = async () => {
    way.set('open');
    for (const service of [...api.services].reverse()) await service.stop();
    await database.close();
    way.close();
    await db.drop();
  };
});
afterAll(() => stop());

const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  return fetch(url + path, { ...init, headers });
};

const enqueue = (): Promise<Response> =>
  ask('/api/v1/projects/default/jobs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"type":"x"}',
  });

describe.each(['cut', 'silent'] as const)('while the way to the database is %s', (state) => {
  beforeEach(async () => {
    way.set('open');
    await waitFor('the API serves', async () => (await enqueue()).status === 201);
    way.set(state);
  });

  it('answers 503 with Retry-After instead of hanging', async () => {
    // Two seconds are promised, which a busy machine may not keep; a hanging request never ends.
    const answers = await Promise.all([enqueue(), ask('/api/v1/projects/default/jobs'), enqueue()]);
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({ code: 'database_unavailable' });
      expect(text).not.toMatch(/select|insert|ECONN|127\.0\.0\.1|timeout exceeded/i);
    }
  });

  it('is alive but not ready', async () => {
    expect((await ask('/livez')).status).toBe(200);
    const ready = await ask('/readyz');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ status: 'unready' });
  });

  it('serves again by itself when the database is back', async () => {
    await enqueue();
    way.set('open');
    await waitFor('the API serves', async () => (await enqueue()).status === 201);
    expect((await ask('/readyz')).status).toBe(200);
  });
});
