import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTestDatabase, waitFor } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, Holdfast } from 'holdfast';
import type { HoldfastLogger } from 'holdfast';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startCuttingProxy } from './support/cutting-proxy.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});
afterAll(() => server.drop());
afterEach(() => {
  vi.useRealTimers();
  process.exitCode = undefined;
});

const nobodyListens = 'postgresql://127.0.0.1:1/none';

function createLog() {
  const warnings: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly message: string;
  }[] = [];
  const quiet = (): void => undefined;
  const logger: HoldfastLogger = {
    ...{ debug: quiet, info: quiet, error: quiet },
    warn: (fields, message) => void warnings.push({ fields, message }),
  };
  return { warnings, logger };
}

function createLonely(logger: HoldfastLogger) {
  const holdfast = new Holdfast({ connectionString: nobodyListens, logger });
  return { holdfast, worker: createWorker({ holdfast }).handle('any', () => 1) };
}

/** Lets timers run ahead of the real time until the call has ended; gives its error. */
async function hurry(call: Promise<unknown>): Promise<unknown> {
  const end: { error?: unknown; isReached: boolean } = { isReached: false };
  void call
    .catch((thrown: unknown) => {
      end.error = thrown;
    })
    .finally(() => {
      end.isReached = true;
    });
  while (!end.isReached) {
    // Timers are ours, the network is not.
    await nextTurn();
    vi.advanceTimersByTime(50);
  }
  return end.error;
}

describe('a worker whose database cannot be reached', () => {
  it('says so at once and with each try, and gives up after about a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { warnings, logger } = createLog();
    const { holdfast, worker } = createLonely(logger);
    const startedMs = performance.now();
    const error = await hurry(worker.start());
    expect(error).toMatchObject({ code: 'database_unavailable', cause: { code: 'ECONNREFUSED' } });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(60_000);
    expect(performance.now() - startedMs).toBeLessThan(90_000);
    expect(warnings[0]).toMatchObject({
      message: 'database not available',
      fields: { attempt: 1, reason: expect.stringContaining('ECONNREFUSED') as string },
    });
    expect(warnings.length).toBeGreaterThan(12);
    await holdfast.close();
  });

  it('ends its process with 69 then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { worker } = createLonely(createLog().logger);
    expect(await hurry(worker.run())).toMatchObject({ code: 'database_unavailable' });
    expect(process.exitCode).toBe(69);
  });

  it('can be stopped while it waits', async () => {
    const { warnings, logger } = createLog();
    const { holdfast, worker } = createLonely(logger);
    // Nobody looks at it: its rejection would end the test run if it counted as unhandled.
    const starting = worker.start();
    await waitFor('the first warning', () => Promise.resolve(warnings.length > 0));
    await worker.stop();
    await nextTurn();
    await expect(starting).rejects.toMatchObject({ code: 'shutdown' });
    await holdfast.close();
  });

  it('can be stopped while it runs as a program', async () => {
    const { warnings, logger } = createLog();
    const { worker } = createLonely(logger);
    const running = worker.run();
    await waitFor('the first warning', () => Promise.resolve(warnings.length > 0));
    await worker.stop();
    await expect(running).resolves.toBeUndefined();
    expect(process.exitCode).toBeUndefined();
  });

  it('starts when the database comes back in time', async () => {
    const proxy = await startCuttingProxy(server.url);
    await proxy.close();
    const { warnings, logger } = createLog();
    await using holdfast = new Holdfast({ connectionString: proxy.url, logger });
    const worker = createWorker({ holdfast }).handle('late', () => 'done');
    const starting = worker.start();
    await waitFor('the first warning', () => Promise.resolve(warnings.length > 0));
    await proxy.reopen();
    await starting;
    const { id } = await holdfast.enqueue('late');
    expect(await holdfast.wait(id, { timeout: '45s' })).toMatchObject({ result: 'done' });
    await holdfast.close();
    await proxy.close();
  });
});

describe('a worker that no retry can help', () => {
  it('ends at once when the server does not let it in', async () => {
    const url = new URL(server.url);
    url.password = 'wrong';
    const { warnings, logger } = createLog();
    await using holdfast = new Holdfast({ connectionString: url.href, logger });
    const worker = createWorker({ holdfast }).handle('any', () => 1);
    await expect(worker.run()).rejects.toMatchObject({ code: 'database_refused' });
    expect(process.exitCode).toBe(78);
    expect(warnings).toEqual([]);
  });

  it('ends at once when the tables are missing', async () => {
    await using holdfast = new Holdfast({ connectionString: server.url, schema: 'elsewhere' });
    const worker = createWorker({ holdfast }).handle('any', () => 1);
    await expect(worker.run()).rejects.toMatchObject({ code: 'schema_outdated' });
    expect(process.exitCode).toBe(69);
  });
});

describe('a worker whose database goes away while it runs', () => {
  it('says so, and goes on when the database is back', async () => {
    const proxy = await startCuttingProxy(server.url);
    const { warnings, logger } = createLog();
    await using holdfast = new Holdfast({ connectionString: proxy.url, logger });
    await using direct = new Holdfast({ connectionString: server.url });
    const worker = createWorker({ holdfast }).handle('steady', () => 'done');
    await worker.start();
    const before = await direct.enqueue('steady');
    expect(await direct.wait(before.id, { timeout: '45s' })).toMatchObject({ result: 'done' });
    await proxy.close();
    const meanwhile = await direct.enqueue('steady');
    await waitFor('a warning', () => Promise.resolve(warnings.length > 0));
    await proxy.reopen();
    expect(await direct.wait(meanwhile.id, { timeout: '45s' })).toMatchObject({ result: 'done' });
    await worker.stop();
    await holdfast.close();
    await proxy.close();
  });
});
