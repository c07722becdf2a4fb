import { emitEvents, listSubscriptions, subscribe, unsubscribe } from '@holdfast/database';
import { createTestDatabase, defaultProjectId } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Queryable } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let projectId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  projectId = await defaultProjectId(test.database);
});
beforeEach(async () => {
  await test.database.execute(
    'truncate holdfast.events, holdfast.event_subscriptions, holdfast.jobs',
  );
});
afterAll(async () => {
  await test.drop();
});

const event = 'user.registered';
const template = (type: string) => ({ type, queue: 'listeners' });
const newEvent = (dataJson = '{}', name = event) => ({ id: randomUUID(), event: name, dataJson });

interface JobRow {
  readonly id: string;
  readonly type: string;
  readonly event_id: string | null;
  readonly payload: unknown;
  readonly priority: number;
}

function jobs(): Promise<readonly JobRow[]> {
  return test.database.query<JobRow>({
    name: 'test_listener_jobs',
    text: 'select id, type, event_id, payload, priority from holdfast.jobs order by type',
  });
}

async function countEvents(): Promise<number> {
  const rows = await test.database.query({
    name: 'test_events',
    text: 'select id from holdfast.events',
  });
  return rows.length;
}

/** A queryable that counts what it is asked. */
function counting(db: Queryable): Queryable & { readonly count: () => number } {
  let count = 0;
  return {
    query: (statement, values) => {
      count += 1;
      return db.query(statement, values);
    },
    count: () => count,
  };
}

/** Emits in a transaction of its own and answers how many statements that took. */
async function statementsOfEmit(database: Database): Promise<number> {
  return database.transaction(async (tx) => {
    const counted = counting(tx);
    const events = [newEvent()];
    await emitEvents(database, { projectId, events, tx: counted });
    return counted.count();
  });
}

describe('an event of the application', () => {
  it('makes the jobs of its listeners, with the event as their payload', async () => {
    await subscribe(test.database, {
      projectId,
      event,
      job: { ...template('mail.welcome'), priority: 2 },
    });
    await subscribe(test.database, { projectId, event, job: template('crm.add') });
    const events = [newEvent('{"userId":7}')];
    const done = await emitEvents(test.database, { projectId, events });
    const [added, welcome] = await jobs();
    expect(done.eventIds).toHaveLength(1);
    expect(done.jobIds).toHaveLength(2);
    expect(done.queueIds).toHaveLength(1);
    expect(added).toMatchObject({ type: 'crm.add', event_id: done.eventIds[0], priority: 5 });
    expect(welcome).toMatchObject({
      type: 'mail.welcome',
      event_id: done.eventIds[0],
      priority: 2,
      payload: {
        event,
        id: done.eventIds[0],
        data: { userId: 7 },
        occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
      },
    });
  });

  it('is only written where nobody wants a job', async () => {
    await subscribe(test.database, { projectId, event });
    const events = [newEvent('1')];
    const { eventIds, jobIds } = await emitEvents(test.database, { projectId, events });
    expect([eventIds.length, jobIds.length, await countEvents()]).toEqual([1, 0, 1]);
  });

  it('is not written where nobody subscribed', async () => {
    await subscribe(test.database, { projectId, event: 'user.deleted', job: template('gone') });
    const events = [newEvent()];
    const done = await emitEvents(test.database, { projectId, events });
    expect(done.eventIds).toEqual([]);
    expect([await countEvents(), await jobs()]).toEqual([0, []]);
  });

  it('leaves neither event nor job when its transaction rolls back', async () => {
    await subscribe(test.database, { projectId, event, job: template('mail.welcome') });
    const failing = test.database.transaction(async (tx) => {
      const events = [newEvent()];
      const done = await emitEvents(test.database, { projectId, events, tx });
      expect(done.jobIds).toHaveLength(1);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect([await countEvents(), await jobs()]).toEqual([0, []]);
  });

  it('is there once when it is emitted twice under one id', async () => {
    await subscribe(test.database, { projectId, event, job: template('mail.welcome') });
    const events = [newEvent()];
    const first = await emitEvents(test.database, { projectId, events });
    const second = await emitEvents(test.database, { projectId, events });
    expect(first.jobIds).toHaveLength(1);
    expect(second).toMatchObject({ eventIds: first.eventIds, jobIds: first.jobIds, queueIds: [] });
    expect([await countEvents(), (await jobs()).length]).toEqual([1, 1]);
  });

  it('takes as many statements for a hundred listeners as for one', async () => {
    await subscribe(test.database, { projectId, event, job: template('listener.0') });
    const few = await statementsOfEmit(test.database);
    for (let index = 1; index < 100; index += 1) {
      const job = template(`listener.${String(index)}`);
      await subscribe(test.database, { projectId, event, job });
    }
    expect(await statementsOfEmit(test.database)).toBe(few);
    expect(await jobs()).toHaveLength(101);
  });

  it('cannot have the name of one that Holdfast announces', async () => {
    const events = [newEvent('{}', 'JobProcessed')];
    await expect(emitEvents(test.database, { projectId, events })).rejects.toMatchObject({
      code: 'event_reserved',
    });
  });

  it('announces nothing of its listeners’ jobs', async () => {
    await subscribe(test.database, { projectId, event, job: template('mail.welcome') });
    await subscribe(test.database, { projectId, event: 'JobQueued', job: template('on.queued') });
    const events = [newEvent()];
    await emitEvents(test.database, { projectId, events });
    expect(await countEvents()).toBe(1);
  });
});

describe('a subscription', () => {
  const page = () => ({ projectId, after: undefined, limit: 10 });

  it('is there once for an event and a job type, with the newest template', async () => {
    const first = await subscribe(test.database, { projectId, event, job: template('a') });
    const again = await subscribe(test.database, {
      projectId,
      event,
      job: { ...template('a'), priority: 1 },
    });
    const silent = await subscribe(test.database, { projectId, event });
    const silentAgain = await subscribe(test.database, { projectId, event });
    expect(again.id).toBe(first.id);
    expect(silentAgain.id).toBe(silent.id);
    expect(again.job?.priority).toBe(1);
    expect(await listSubscriptions(test.database, page())).toEqual([again, silent]);
  });

  it('is read page by page', async () => {
    for (const type of ['a', 'b', 'c']) {
      await subscribe(test.database, { projectId, event, job: template(type) });
    }
    const first = await listSubscriptions(test.database, { ...page(), limit: 2 });
    const rest = await listSubscriptions(test.database, { ...page(), after: first[1]?.id });
    expect([...first, ...rest].map(({ job }) => job?.type)).toEqual(['a', 'b', 'c']);
  });

  it('ends once', async () => {
    const { id } = await subscribe(test.database, { projectId, event, job: template('a') });
    expect(await unsubscribe(test.database, { projectId: randomUUID(), id })).toBe(false);
    expect(await unsubscribe(test.database, { projectId, id })).toBe(true);
    expect(await unsubscribe(test.database, { projectId, id })).toBe(false);
    await emitEvents(test.database, { projectId, events: [newEvent()] });
    expect(await jobs()).toEqual([]);
  });
});
