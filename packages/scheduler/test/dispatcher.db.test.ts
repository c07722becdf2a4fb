import { emitEvents, listEvents, subscribe } from '@holdfast/database';
import { createSilentLogger } from '@holdfast/runtime';
import { createTestDatabase, defaultProjectId, waitFor } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dispatchPage } from '../src/dispatch-page.ts';
import { createScheduler } from '../src/scheduler.ts';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let projectId: string;

beforeEach(async () => {
  test = await createTestDatabase();
  projectId = await defaultProjectId(test.database);
});
afterEach(async () => {
  await test.drop();
});

async function announce(event: string): Promise<void> {
  await test.database.execute(
    `insert into holdfast.events (project_id, event) values ('${projectId}', '${event}')`,
  );
}

async function listenerTypes(): Promise<readonly string[]> {
  const rows = await test.database.query<{ readonly type: string }>({
    name: 'test_types',
    text: 'select type from holdfast.jobs where event_id is not null order by type',
  });
  return rows.map(({ type }) => type);
}

describe('a page of events', () => {
  it('is dispatched without the jobs of a template that cannot be used', async () => {
    const listener = (type: string) => ({ type, queue: 'listeners' });
    await subscribe(test.database, { projectId, event: 'JobQueued', job: listener('good') });
    await subscribe(test.database, { projectId, event: 'JobFailed', job: listener('bad') });
    await test.database.execute(
      `alter table holdfast.jobs add constraint jobs_not_bad check (type <> 'bad')`,
    );
    for (const event of ['JobQueued', 'JobFailed', 'JobQueued']) await announce(event);
    const page = await dispatchPage(test.database);
    expect(page).toMatchObject({ eventCount: 3, jobCount: 2 });
    expect(page.failures).toMatchObject([{ constraint: 'jobs_not_bad' }]);
    expect(await listenerTypes()).toEqual(['good', 'good']);
    const { events } = await listEvents(test.database, { projectId, after: '0', limit: 10 });
    expect(events.map(({ event }) => event)).toEqual(['JobQueued', 'JobFailed', 'JobQueued']);
  });

  it('stays as it is while it cannot be numbered', async () => {
    await subscribe(test.database, { projectId, event: 'x' });
    await emitEvents(test.database, {
      projectId,
      events: [{ id: randomUUID(), event: 'x', dataJson: '1' }],
    });
    await test.database.execute(
      `alter table holdfast.events add constraint stubborn check (position is null)`,
    );
    await expect(dispatchPage(test.database)).rejects.toMatchObject({ constraint: 'stubborn' });
    await test.database.execute('alter table holdfast.events drop constraint stubborn');
    expect(await dispatchPage(test.database)).toMatchObject({ eventCount: 1, failures: [] });
  });
});

describe('the dispatcher of a scheduler', () => {
  it('finds what workers write without being told, while somebody is subscribed', async () => {
    await subscribe(test.database, {
      projectId,
      event: 'JobProcessed',
      job: { type: 'listener', queue: 'listeners' },
    });
    const scheduler = createScheduler({ database: test.database, logger: createSilentLogger() });
    await scheduler.start();
    await announce('JobProcessed');
    await waitFor('the first job is made', async () => (await listenerTypes()).length === 1);
    await announce('JobProcessed');
    await waitFor('the second job is made', async () => (await listenerTypes()).length === 2);
    await scheduler.stop();
  });
});
