import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient } from '@holdfast/contract';
import { createTestDatabase, spawnProcess, waitFor } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const client = join(root, 'examples/http-client/client.py');
const hasPython = spawnSync('python3', ['--version'], { stdio: 'ignore' }).status === 0;
if (!hasPython) console.warn('SKIPPED: the client in Python needs python3');

describe.runIf(hasPython)('the client in Python', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-client-'));
  let db: TestDatabase;
  let stack: SpawnedProcess;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    db = await createTestDatabase();
    stack = spawnProcess({
      script: join(root, 'apps/cli/bin/holdfast.js'),
      args: ['up', '--no-demo', '--port', '0'],
      cwd: folder,
      env: {
        DATABASE_URL: db.url,
        HOLDFAST_HANDLERS: join(root, 'examples/demo/dist/handlers.js'),
      },
    });
    const [, url = ''] = await stack.waitForOutput(/Dashboard\s+(http:\/\/127\.0\.0\.1:\d+)/);
    env = { HOLDFAST_URL: url, HOLDFAST_API_KEY: await makeKey(url, folder) };
  }, 120_000);
  afterAll(async () => {
    stack.kill('SIGTERM');
    await stack.exited;
    await db.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('enqueues, waits, reads the result, and understands what is refused', () => {
    const output = execFileSync('python3', [client, 'Ada'], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    expect(output.split('\n')).toEqual([
      expect.stringMatching(/^enqueued [-0-9a-f]{36}$/),
      'completed: Hello, Ada!',
      'the same job: True',
      'refused: 422 idempotency_key_reused',
      'refused: 422 validation_failed at /priority',
      'refused: 409 job_not_in_state',
      '',
    ]);
  });

  it.each([
    ['no key', '', /^HOLDFAST_API_KEY is not set.*\n$/],
    ['a wrong key', 'hf_live_wrong', /^401 .*\n$/],
  ])('says in one line what it stopped at: %s', (_name, key, line) => {
    const { status, stderr } = spawnSync('python3', [client], {
      encoding: 'utf8',
      env: { ...process.env, ...env, HOLDFAST_API_KEY: key },
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(line);
  });

  it('ends at Ctrl-C while it waits, without a traceback', async () => {
    const api = createApiClient({
      baseUrl: env['HOLDFAST_URL'] ?? '',
      getAccessToken: () => env['HOLDFAST_API_KEY'] ?? '',
    });
    await api.pauseQueue({
      params: { project: 'default', queue: 'default' },
      body: { reason: 'test' },
    });
    const child = spawn('python3', ['-u', client, 'Ada'], { env: { ...process.env, ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (output += String(data)));
    const exited = new Promise((resolve) => child.once('close', resolve));
    await waitFor('the client waits', () => output.includes('enqueued'));
    child.kill('SIGINT');
    expect(await exited).toBe(130);
    expect(output).toMatch(/^enqueued \S+\n$/);
  });
});

async function makeKey(baseUrl: string, folder: string): Promise<string> {
  const password = readFileSync(join(folder, '.holdfast/admin-password'), 'utf8').trim();
  const { accessToken } = await createApiClient({ baseUrl }).login({
    body: { email: 'admin@holdfast.local', password },
  });
  const owner = createApiClient({ baseUrl, getAccessToken: () => accessToken });
  const { key } = await owner.createApiKey({
    params: { project: 'default' },
    body: { name: 'client in Python', scopes: ['manage'] },
  });
  return key;
}
