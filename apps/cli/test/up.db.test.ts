import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiClient } from '@holdfast/contract';
import { createTestDatabase, spawnProcess, waitFor } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SpawnedProcess } from '@holdfast/testing';

const script = fileURLToPath(new URL('../bin/holdfast.js', import.meta.url));
const startTimeoutMs = 60_000;

let directory = '';
let up: SpawnedProcess | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-up-'));
  // PostgreSQL runs under an account of its own when the tests are run by root.
  await chmod(directory, 0o755);
});

afterEach(async () => {
  await up?.destroy();
  up = undefined;
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

function startUp(...flags: readonly string[]): SpawnedProcess {
  return startUpWith({}, ...flags);
}

function startUpWith(
  env: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): SpawnedProcess {
  up = spawnProcess({
    script,
    args: ['up', '--port', '0', '--data-dir', join(directory, 'data'), ...flags],
    env,
    cwd: directory,
  });
  return up;
}

/** Waits for the last lines of a start; gives what they say. */
async function untilUp(process: SpawnedProcess) {
  const [, baseUrl = '', ticket = ''] = await process.waitForOutput(
    /Dashboard {2}(http:\/\/127\.0\.0\.1:\d+)\/\?ticket=(\S+)[^]*Stop with Ctrl-C/,
    { timeoutMs: startTimeoutMs },
  );
  return { baseUrl, ticket };
}

async function signIn({ baseUrl, ticket }: { readonly baseUrl: string; readonly ticket: string }) {
  const { accessToken } = await createApiClient({ baseUrl }).redeemTicket({ body: { ticket } });
  return createApiClient({ baseUrl, getAccessToken: () => accessToken });
}

const project = { project: 'default' };

async function isReachable(baseUrl: string): Promise<boolean> {
  return fetch(`${baseUrl}/livez`).then(
    () => true,
    () => false,
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Enqueues a job, looks at it, cancels it; pauses its queue. */
async function useCommands(env: Readonly<Record<string, string>>): Promise<void> {
  const holdfast = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const command = spawnProcess({ script, args, env });
    const { code } = await command.exited;
    expect(code, command.output()).toBe(0);
    return JSON.parse(command.output().split('\n')[0] ?? '') as Record<string, unknown>;
  };
  const flags = ['--queue', 'mail', '--payload', '{"to":"ada"}', '--delay', '1h'];
  const job = await holdfast('jobs', 'enqueue', 'invoice.send', ...flags);
  expect(job).toMatchObject({ type: 'invoice.send', queue: 'mail', status: 'scheduled' });
  const id = String(job['id']);
  expect(await holdfast('jobs', 'list', '--status', 'scheduled')).toMatchObject({ id });
  expect(await holdfast('job', 'get', id)).toMatchObject({ id, payload: { to: 'ada' } });
  expect(await holdfast('jobs', 'cancel', id)).toMatchObject({ id, status: 'cancelled' });
  expect(await holdfast('queues', 'pause', 'mail', '--reason', 'provider outage')).toMatchObject({
    name: 'mail',
    paused: { reason: 'provider outage' },
  });
  expect(await holdfast('queues', 'resume', 'mail')).toMatchObject({ name: 'mail', paused: null });
}

describe('holdfast up', () => {
  it('with --once starts everything, checks how every job of the demo ends, and exits with 0', async () => {
    const process = startUp('--once');
    expect((await process.exited).code, process.output()).toBe(0);
    expect(process.output()).toContain('Every job ended as planned.');
    expect(process.output()).not.toContain('✘');
  });

  it('signs the owner in once by the link, and the password is in a file for its owner only', async () => {
    const facts = await untilUp(startUp('--no-demo'));
    const client = await signIn(facts);
    const me = await client.getMe();
    expect(me).toMatchObject({ email: 'admin@holdfast.local', passwordChangeRequired: false });
    await expect(signIn(facts)).rejects.toMatchObject({ status: 401 });
    const passwordPath = join(directory, 'data', 'admin-password');
    expect((await stat(passwordPath)).mode & 0o777).toBe(0o600);
    const password = (await readFile(passwordPath, 'utf8')).trim();
    const session = await createApiClient({ baseUrl: facts.baseUrl }).login({
      body: { email: me.email, password },
    });
    expect(session.user.email).toBe(me.email);
  });

  it('starts a worker again that was killed', async () => {
    const process = startUp();
    const client = await signIn(await untilUp(process));
    const { id } = await client.enqueueJob({
      params: project,
      body: { type: 'demo.report', payload: { pages: 100 } },
    });
    const running = await waitFor('the job runs', async () => {
      const job = await client.getJob({ params: { ...project, id } });
      return job.status === 'running' ? job : undefined;
    });
    const workers = await client.listWorkers({ params: project });
    const worker = workers.data.find((one) => one.id === running.workerId);
    globalThis.process.kill(worker?.pid ?? 0, 'SIGKILL');
    await process.waitForOutput(/worker 1 \(pid \d+\) ended with SIGKILL; starting it again/);
    await process.waitForOutput(/worker 1 runs again/);
    // Nobody waits here until the dead worker's lease has ended.
    await client.cancelJob({ params: { ...project, id }, body: {} });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'on %s stops workers, schedulers, API and PostgreSQL in this order and exits with 0',
    async (signal) => {
      const process = startUp('--no-demo');
      const { baseUrl } = await untilUp(process);
      process.kill(signal);
      expect((await process.exited).code).toBe(0);
      expect(process.output()).toMatch(/✔ workers[^]*✔ schedulers[^]*✔ API/);
      expect(await isReachable(baseUrl)).toBe(false);
    },
  );

  it('stops at once on a second Ctrl-C, and leaves no process behind', async () => {
    const process = startUp();
    const client = await signIn(await untilUp(process));
    const body = { type: 'demo.report', payload: { pages: 100 } };
    const { id } = await client.enqueueJob({ params: project, body });
    await waitFor('the job runs', async () => {
      const job = await client.getJob({ params: { ...project, id } });
      return job.status === 'running';
    });
    const workers = await client.listWorkers({ params: project });
    process.kill('SIGINT');
    await process.waitForOutput(/Stopping; running jobs finish first/);
    // One that comes right after the first counts as its echo.
    await waitFor('it has ended', () => {
      process.kill('SIGINT');
      return !process.isRunning();
    });
    expect((await process.exited).code).toBe(130);
    await waitFor('the workers have ended', () => !workers.data.some(({ pid }) => isAlive(pid)));
  });

  it('uses the server at DATABASE_URL, warns about its settings, and serves the other commands', async () => {
    const test = await createTestDatabase();
    try {
      const process = startUpWith({ DATABASE_URL: test.url }, '--no-demo');
      const { baseUrl, ticket } = await untilUp(process);
      expect(process.output()).toContain('WARNING: fsync is off');
      expect(process.output()).toContain('(DATABASE_URL)');
      const { accessToken } = await createApiClient({ baseUrl }).redeemTicket({ body: { ticket } });
      await useCommands({ HOLDFAST_URL: baseUrl, HOLDFAST_API_KEY: accessToken });
    } finally {
      await up?.destroy();
      await test.drop();
    }
  });

  it('says that it runs already in the same folder, joins in, and fills in no second demo', async () => {
    const first = startUp();
    try {
      await untilUp(first);
      expect(first.output()).toMatch(/✔ demo +2\d\d jobs enqueued/);
      const second = startUp();
      const client = await signIn(await untilUp(second));
      expect(second.output()).toContain('Holdfast runs in this folder already');
      expect(second.output()).toMatch(/✔ demo +1 job enqueued/);
      expect(first.output()).not.toContain('runs in this folder already');
      await second.waitForOutput(/have ended as planned: 1 completed/);
      expect((await client.getMe()).email).toBe('admin@holdfast.local');
      await second.destroy();
    } finally {
      await first.destroy();
    }
  });

  it('leaves no process behind when it is killed', async () => {
    const process = startUp('--no-demo');
    const facts = await untilUp(process);
    const client = await signIn(facts);
    const workers = await client.listWorkers({ params: project });
    const workerPids = workers.data.filter((one) => one.status === 'active').map((one) => one.pid);
    const postmasterFile = join(directory, 'data', 'pg', 'postmaster.pid');
    const postmasterPid = Number((await readFile(postmasterFile, 'utf8')).split('\n')[0]);
    process.kill('SIGKILL');
    await process.exited;
    await waitFor(
      'API, workers and PostgreSQL have ended',
      async () =>
        !(await isReachable(facts.baseUrl)) && ![...workerPids, postmasterPid].some(isAlive),
      { timeoutMs: 60_000 },
    );
  });

  it('stops what it has started, says why, and ends when a process cannot start', async () => {
    const env = { HOLDFAST_HANDLERS: join(directory, 'no-such-module.js') };
    const process = startUpWith(env, '--no-demo');
    const { code } = await process.exited;
    expect(code, process.output()).toBe(78);
    expect(process.output()).toContain('no-such-module.js cannot be loaded');
    const [, baseUrl = ''] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(process.output()) ?? [];
    expect(await isReachable(baseUrl)).toBe(false);
  });

  it('lists every problem of the configuration and exits with 78', async () => {
    const process = startUp('--workers', 'many');
    expect((await process.exited).code).toBe(78);
    expect(process.output()).toContain('HOLDFAST_WORKERS');
  });
});
