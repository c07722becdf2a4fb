import {
  defaultRetention,
  dispatchEvents,
  emitEvents,
  listEvents,
  listNewestPositions,
  openDatabase,
  prune,
  readOutboxState,
  subscribe,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import type { StoredEvent } from '@holdfast/database';
import type { JobFactory, TestDatabase } from '@holdfast/testing';
import type { HandConnection } from './support/hand-connection.ts';

let test: TestDatabase;
let factory: JobFactory;
let projectId: string;
let other: HandConnection;

beforeEach(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
  ({ projectId } = factory);
  other = await openHandConnection(test.url);
});
afterEach(async () => {
  await other.close();
  await test.drop();
});

const listener = (type: string) => ({ type, queue: 'listeners' });
const newEvent = (event: string) => ({ id: randomUUID(), event, dataJson: '{}' });
const emit = (event: string) => emitEvents(test.database, { projectId, events: [newEvent(event)] });

interface ListenerJob {
  readonly type: string;
  readonly event_id: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

function listenerJobs(): Promise<readonly ListenerJob[]> {
  return test.database.query<ListenerJob>({
    name: 'test_listener_jobs',
    text: `select type, event_id, payload from holdfast.jobs where event_id is not null order by type`,
  });
}

/** Everything behind a position, read in pages of `limit`. */
async function readAll(after = '0', limit = 2): Promise<readonly StoredEvent[]> {
  const page = await listEvents(test.database, { projectId, after, limit });
  if (page.events.length === 0) return [];
  return [...page.events, ...(await readAll(page.nextAfter, limit))];
}

describe('a dispatcher', () => {
  it('makes the jobs of listeners once for each announced event', async () => {
    await subscribe(test.database, { projectId, event: 'JobProcessed', job: listener('a') });
    await subscribe(test.database, { projectId, event: 'JobProcessed', job: listener('b') });
    const { id } = await factory.completed();
    const first = await dispatchEvents(test.database);
    const second = await dispatchEvents(test.database);
    const jobs = await listenerJobs();
    expect(first).toMatchObject({ eventCount: 1, jobCount: 2, isContended: false });
    expect(first.queueIds).toHaveLength(1);
    expect(second).toMatchObject({ eventCount: 0, jobCount: 0 });
    expect(jobs.map(({ type }) => type)).toEqual(['a', 'b']);
    expect(jobs[0]?.payload).toEqual({
      event: 'JobProcessed',
      id: jobs[0]?.event_id,
      jobId: id,
      occurredAt: expect.stringMatching(/Z$/) as unknown,
      data: { type: 'test.job', queue: expect.any(String) as unknown, attempt: 1, executionSeq: 1 },
    });
  });

  it('gets along with one connection', async () => {
    const database = openDatabase({ connectionString: test.url, poolSize: 1 });
    await subscribe(database, { projectId, event: 'JobProcessed', job: listener('a') });
    await factory.completed();
    const dispatched = await dispatchEvents(database).finally(() => database.close());
    expect(dispatched).toMatchObject({ jobCount: 1 });
  });

  it('makes no second job for what an application emitted', async () => {
    await subscribe(test.database, { projectId, event: 'user.registered', job: listener('a') });
    await emit('user.registered');
    expect(await dispatchEvents(test.database)).toMatchObject({ eventCount: 1, jobCount: 0 });
    expect(await listenerJobs()).toHaveLength(1);
  });

  it('leaves the events to another dispatcher that is at work', async () => {
    await subscribe(test.database, { projectId, event: 'x' });
    await emit('x');
    await other.run('begin');
    await other.run(
      `select pg_advisory_xact_lock(hashtextextended('holdfast.events dispatch', 0))`,
    );
    const meanwhile = await dispatchEvents(test.database);
    await other.run('commit');
    expect(meanwhile).toMatchObject({ eventCount: 0, isContended: true });
    expect(await dispatchEvents(test.database)).toMatchObject({ eventCount: 1 });
  });

  it('numbers a page at a time, oldest first', async () => {
    for (const event of ['a', 'b', 'c']) {
      await subscribe(test.database, { projectId, event });
      await emit(event);
    }
    expect((await dispatchEvents(test.database, { limit: 2 })).eventCount).toBe(2);
    expect((await readAll()).map(({ event }) => event)).toEqual(['a', 'b']);
    expect((await dispatchEvents(test.database, { limit: 2 })).eventCount).toBe(1);
    expect((await readAll()).map(({ event }) => event)).toEqual(['a', 'b', 'c']);
  });

  it('knows whether there is anything to do, and whether there may be soon', async () => {
    const state = () => readOutboxState(test.database);
    expect(await state()).toEqual({ hasPending: false, hasSubscriptions: false });
    await subscribe(test.database, { projectId, event: 'x' });
    expect(await state()).toEqual({ hasPending: false, hasSubscriptions: true });
    await emit('x');
    expect(await state()).toEqual({ hasPending: true, hasSubscriptions: true });
    await dispatchEvents(test.database);
    expect(await state()).toEqual({ hasPending: false, hasSubscriptions: true });
  });
});

describe('a reader who remembers a position', () => {
  it('is told of an event that was written first and committed last', async () => {
    await subscribe(test.database, { projectId, event: 'early' });
    await subscribe(test.database, { projectId, event: 'late' });
    await other.run('begin');
    const events = [newEvent('late')];
    await emitEvents(test.database, { projectId, events, tx: other });
    await emit('early');
    await dispatchEvents(test.database);
    const before = await listEvents(test.database, { projectId, after: '0', limit: 10 });
    await other.run('commit');
    await dispatchEvents(test.database);
    const after = await listEvents(test.database, {
      projectId,
      after: before.nextAfter,
      limit: 10,
    });
    expect(before.events.map(({ event }) => event)).toEqual(['early']);
    expect(after.events.map(({ event }) => event)).toEqual(['late']);
  });

  it('skips what the filter leaves out, also when that is all there is', async () => {
    await subscribe(test.database, { projectId, event: 'wanted' });
    await subscribe(test.database, { projectId, event: 'other' });
    await emit('wanted');
    await emit('other');
    await dispatchEvents(test.database);
    const request = { projectId, events: ['wanted'], limit: 10 };
    const first = await listEvents(test.database, { ...request, after: '0' });
    const second = await listEvents(test.database, { ...request, after: first.nextAfter });
    const newest = (await listNewestPositions(test.database, [projectId])).get(projectId);
    expect(first.events.map(({ event }) => event)).toEqual(['wanted']);
    expect(first.nextAfter).toBe(newest);
    expect(second).toEqual({ events: [], nextAfter: newest });
  });

  it('stays where it is when nothing is kept behind it', async () => {
    const page = await listEvents(test.database, { projectId, after: '42', limit: 10 });
    expect(page).toEqual({ events: [], nextAfter: '42' });
  });
});

describe('retention', () => {
  const retention = { ...defaultRetention, eventsMs: 0 };

  it('ends for events that were dispatched, and for no others', async () => {
    await subscribe(test.database, { projectId, event: 'x' });
    await emit('x');
    await prune(test.database, retention);
    await dispatchEvents(test.database);
    expect(await readAll()).toHaveLength(1);
    await prune(test.database, retention);
    expect(await readAll()).toEqual([]);
  });
});

describe('silence', () => {
  it('leaves the outbox empty for the whole life of jobs', async () => {
    await factory.completed();
    await factory.deadLetter({ crashCount: 1 });
    await factory.cancelled();
    await factory.failed();
    await emit('user.registered');
    const rows = await test.database.query({ name: '', text: 'select from holdfast.events' });
    expect(rows).toEqual([]);
  });
});
