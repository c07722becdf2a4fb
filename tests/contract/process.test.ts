import { join } from 'node:path';
import { createTestDatabase, spawnProcess } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { owner, secret } from './support/test-api.ts';

const script = join(import.meta.dirname, '..', '..', 'apps', 'api', 'dist', 'main.js');

let db: TestDatabase;
const started: SpawnedProcess[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const process of started.splice(0)) await process.destroy();
  await db.drop();
});

function start(env: Readonly<Record<string, string>>): SpawnedProcess {
  const process = spawnProcess({ script, env });
  started.push(process);
  return process;
}

const settings = () => ({ DATABASE_URL: db.url, PORT: '0', HOLDFAST_SECRET: secret });

async function urlOf(process: SpawnedProcess): Promise<string> {
  const [, url = ''] = await process.waitForOutput(/"url":"(http:\/\/[^"]+)"/);
  return url;
}

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('the process of the API', () => {
  it('lists every wrong setting at once and exits with 78, without repeating a secret', async () => {
    const process = start({
      DATABASE_URL: 'mysql://user:hush@x/y',
      PORT: '99999',
      HOLDFAST_SECRET: 'too-short',
      HOLDFAST_ADMIN_PASSWORD: 'tiny',
      HOLDFAST_TRUST_PROXY: 'true',
    });
    expect(await process.exited).toEqual({ code: 78, signal: null });
    for (const name of [
      'DATABASE_URL',
      'PORT',
      'HOLDFAST_SECRET',
      'HOLDFAST_ADMIN_PASSWORD',
      'HOLDFAST_TRUST_PROXY',
    ]) {
      expect(process.output()).toContain(`${name}: `);
    }
    expect(process.output()).not.toMatch(/hush|too-short|tiny/);
  });

  it('makes the first owner with a generated password, which it says once and wants changed', async () => {
    const process = start(settings());
    const url = await urlOf(process);
    const [, email, password] = await process.waitForOutput(
      /First sign-in: (\S+) with the password (\S+)/,
    );
    const login = await post(`${url}/api/v1/auth/login`, { email, password });
    expect(await login.json()).toMatchObject({ user: { passwordChangeRequired: true } });
    process.kill('SIGTERM');
    expect(await process.exited).toEqual({ code: 0, signal: null });
    const second = start(settings());
    await urlOf(second);
    expect(second.output()).not.toContain('First sign-in');
  });

  it('answers what is in hand when it is asked to stop, then exits with 0', async () => {
    const process = start({
      ...settings(),
      HOLDFAST_ADMIN_EMAIL: owner.email,
      HOLDFAST_ADMIN_PASSWORD: owner.password,
    });
    const url = await urlOf(process);
    const login = await post(`${url}/api/v1/auth/login`, owner);
    const { accessToken } = (await login.json()) as { accessToken: string };
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    const jobs = `${url}/api/v1/projects/default/jobs`;
    const body = JSON.stringify({ type: 'x', delay: '1h' });
    const made = (await (await fetch(jobs, { method: 'POST', headers, body })).json()) as {
      id: string;
    };
    const waiting = fetch(`${jobs}/${made.id}?wait=60s`, { headers });
    // Its log line comes at its end, so the request before it tells that the server has read this one too.
    await (await fetch(`${url}/livez`)).text();
    process.kill('SIGTERM');
    expect((await waiting).status).toBe(200);
    expect(await process.exited).toEqual({ code: 0, signal: null });
  });
});
