import { fileURLToPath } from 'node:url';
import {
  createJobFactory,
  createTestDatabase,
  freePort,
  spawnProcess,
  waitFor,
} from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';

const script = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const handlersFile = (name: string) =>
  fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

let test: TestDatabase;
let worker: SpawnedProcess | undefined;

beforeEach(async () => {
  test = await createTestDatabase();
});

afterEach(async () => {
  await worker?.destroy();
  worker = undefined;
  await test.drop();
});

function spawnWorker(env: Readonly<Record<string, string>>): SpawnedProcess {
  worker = spawnProcess({ script, env: { DATABASE_URL: test.url, ...env } });
  return worker;
}

describe('a worker process', () => {
  it.each([
    ["with the user's handlers", 'named-handlers', 'Hello, Ada!'],
    ['in threads', 'isolated-handlers', 'Hello from another thread, Ada!'],
  ])('runs jobs %s, and stops with 0', async (_how, file, expected) => {
    const process = spawnWorker({ HOLDFAST_HANDLERS: handlersFile(file) });
    const factory = await createJobFactory(test.database);
    const { id } = await factory.queued({ type: 'greet', payloadJson: '{"name":"Ada"}' });
    const result = await waitFor('the job has completed', async () => {
      const [row] = await test.database.query<{ readonly result: unknown }>(
        {
          name: '',
          text: `select result from holdfast.all_jobs where id = $1 and status = 'completed'`,
        },
        [id],
      );
      return row?.result;
    });
    expect(result).toBe(expected);
    process.kill('SIGTERM');
    expect((await process.exited).code).toBe(0);
  });

  it('answers probes', async () => {
    const port = await freePort();
    const process = spawnWorker({ HOLDFAST_PROBE_PORT: String(port) });
    await process.waitForOutput(/"msg":"started"/);
    for (const path of ['/livez', '/readyz', '/metrics']) {
      expect((await fetch(`http://127.0.0.1:${String(port)}${path}`)).status).toBe(200);
    }
  });

  it.each([
    [{ HOLDFAST_HEARTBEAT: '20s' }, 'HOLDFAST_HEARTBEAT'],
    [{ HOLDFAST_CONCURRENCY: '0', HOLDFAST_POLL_INTERVAL: 'often' }, 'HOLDFAST_POLL_INTERVAL'],
    [{ HOLDFAST_HANDLERS: './nowhere.js' }, 'HOLDFAST_HANDLERS'],
    [{ HOLDFAST_PROJECT: 'nobody' }, 'there is no project "nobody"'],
    [{ HOLDFAST_EGRESS_ALLOW_HOSTS: 'http://user@host' }, 'HOLDFAST_EGRESS_ALLOW_HOSTS'],
  ])('refuses %j with exit code 78', async (env, problem) => {
    const process = spawnWorker(env);
    expect((await process.exited).code).toBe(78);
    expect(process.output()).toContain(problem);
  });
});
