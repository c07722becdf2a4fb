import { createSilentLogger } from '@holdfast/runtime';
import { createJobFactory, createTestDatabase, waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScheduler } from '../src/scheduler.ts';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});

afterAll(async () => {
  await test.drop();
});

describe('a scheduler inside of another process', () => {
  it('does its duties with nothing but a database and a logger', async () => {
    const factory = await createJobFactory(test.database);
    const { id } = await factory.scheduled({ delayMs: 100 });
    const scheduler = createScheduler({ database: test.database, logger: createSilentLogger() });
    await scheduler.start();
    await waitFor('every duty is done once', () =>
      scheduler.loops.every((loop) => loop.health().lastSuccessAtMs !== undefined),
    );
    await waitFor('the job is queued', async () => {
      const [job] = await test.database.query<{ readonly status: string }>(
        { name: '', text: 'select status from holdfast.jobs where id = $1' },
        [id],
      );
      return job?.status === 'queued';
    });
    await scheduler.stop();
    await scheduler.stop();
  });

  it('can be stopped before it is started', async () => {
    const scheduler = createScheduler({ database: test.database, logger: createSilentLogger() });
    await expect(scheduler.stop()).resolves.toBeUndefined();
  });

  it('counts only the loops that move jobs as urgent', () => {
    const { urgentLoops } = createScheduler({
      database: test.database,
      logger: createSilentLogger(),
      hasNotifications: false,
    });
    expect(urgentLoops.map(({ name }) => name)).toEqual(['promoter', 'reaper', 'cron', 'settler']);
  });
});
