import { fileURLToPath } from 'node:url';
import { createNotifier, listFires } from '@holdfast/database';
import {
  createJobFactory,
  createTestDatabase,
  freePort,
  makeSchedule,
  spawnProcess,
  waitFor,
} from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';

const script = fileURLToPath(new URL('../dist/main.js', import.meta.url));

let test: TestDatabase;
let scheduler: SpawnedProcess | undefined;

beforeEach(async () => {
  test = await createTestDatabase();
});

afterEach(async () => {
  await scheduler?.destroy();
  scheduler = undefined;
  await test.drop();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<SpawnedProcess> {
  scheduler = spawnProcess({ script, env: { DATABASE_URL: test.url, ...env } });
  await scheduler.waitForOutput(/"msg":"started"/);
  return scheduler;
}

async function statusOf(id: string): Promise<string | undefined> {
  const [row] = await test.database.query<{ readonly status: string }>(
    { name: '', text: 'select status from holdfast.jobs where id = $1' },
    [id],
  );
  return row?.status;
}

describe('a scheduler process', () => {
  // Its loops look every ten seconds at least; what follows must not depend on that.
  const wellBeforeTheTickMs = 8_000;

  it('queues a delayed job when it is due, although it was enqueued while the promoter slept', async () => {
    await start();
    const factory = await createJobFactory(test.database);
    const { id } = await factory.scheduled({ delayMs: 300 });
    const notifier = createNotifier(test.database);
    notifier.wakeSchedulers();
    await waitFor('the job is queued', async () => (await statusOf(id)) === 'queued', {
      timeoutMs: wellBeforeTheTickMs,
    });
    await notifier.close();
  });

  it('queues a delayed job without any wake-up', async () => {
    const factory = await createJobFactory(test.database);
    const { id } = await factory.scheduled({ delayMs: 300 });
    await start({ HOLDFAST_NOTIFY: 'off', HOLDFAST_TICK: '1s' });
    await waitFor('the job is queued', async () => (await statusOf(id)) === 'queued');
  });

  it('takes a job away from a worker whose lease has ended', async () => {
    const factory = await createJobFactory(test.database);
    const { id } = await factory.running({ leaseMs: 0 });
    await start({ HOLDFAST_LEASE: '500ms', HOLDFAST_TICK: '200ms' });
    await waitFor('the job is queued again', async () => (await statusOf(id)) === 'queued');
  });

  it('goes on firing when the server ends every connection', async () => {
    const anchorAt = new Date();
    const key = await makeSchedule(test.database, {
      name: 'steady',
      timing: { everyMs: 1_000, anchorAt, timezone: 'UTC' },
      nextFireAt: anchorAt,
      overlap: 'allow',
      catchUp: 'all',
    });
    const process = await start();
    const untilFired = (count: number): Promise<unknown> =>
      waitFor(`it has fired ${String(count)} times`, async () => {
        const fires = await listFires(test.database, { ...key, before: undefined, limit: 200 });
        return fires.length >= count;
      });
    for (const count of [2, 4, 6]) {
      await untilFired(count);
      await test.database.query({
        name: '',
        text: `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      });
    }
    await untilFired(8);
    const fires = await listFires(test.database, { ...key, before: undefined, limit: 200 });
    expect(new Set(fires.map((fire) => fire.outcome))).toEqual(new Set(['enqueued']));
    process.kill('SIGTERM');
    expect((await process.exited).code).toBe(0);
  });

  it('answers probes, and says how its loops do', async () => {
    const port = await freePort();
    await start({ HOLDFAST_PROBE_PORT: String(port) });
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${String(port)}${path}`);
      return { status: response.status, text: await response.text() };
    };
    await waitFor('it is ready', async () => (await get('/readyz')).status === 200);
    expect((await get('/readyz?verbose')).text).toContain('[+]cron ok');
    expect(await get('/livez')).toEqual({ status: 200, text: 'ok\n' });
    for (const loop of ['promoter', 'reaper', 'cron', 'pruner', 'rollup']) {
      await waitFor(`the ${loop} has succeeded`, async () =>
        (await get('/metrics')).text.includes(
          `holdfast_loop_last_success_timestamp_seconds{loop="${loop}"}`,
        ),
      );
    }
  });

  it('lists every problem of its configuration and exits with 78', async () => {
    const process = spawnProcess({ script, env: { HOLDFAST_TICK: '1h', LOG_LEVEL: 'loud' } });
    expect((await process.exited).code).toBe(78);
    for (const variable of ['DATABASE_URL', 'HOLDFAST_TICK', 'LOG_LEVEL']) {
      expect(process.output()).toContain(`${variable}: `);
    }
  });

  it('refuses a database without its schema and exits with 69', async () => {
    const env = { DATABASE_URL: test.url, HOLDFAST_SCHEMA: 'nowhere' };
    const process = spawnProcess({ script, env });
    expect((await process.exited).code).toBe(69);
    expect(process.output()).toContain('run "holdfast migrate"');
  });
});
