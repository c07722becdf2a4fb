import {
  announceEvents,
  beatWorker,
  createQueue,
  markWorkerStopped,
  pauseQueue,
  promoteJobs,
  reapExpiredLeases,
  recordFire,
  recordUnfired,
  registerWorker,
  resumeQueue,
} from '@holdfast/database';
import { lifeCycleEvents } from '@holdfast/domain';
import { createTestDatabase, defaultProjectId, makeSchedule } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerBeat } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let projectId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  projectId = await defaultProjectId(test.database);
});
beforeEach(async () => {
  const names = Object.keys(lifeCycleEvents).map((event) => `('${event}')`);
  await test.database.execute(`
    truncate holdfast.events, holdfast.event_subscriptions;
    insert into holdfast.event_subscriptions (project_id, id, event)
    select '${projectId}', gen_random_uuid(), e.event from (values ${names.join(', ')}) as e (event);
  `);
});
afterAll(async () => {
  await test.drop();
});

async function announced(): Promise<readonly unknown[]> {
  const rows = await test.database.query<{ event: string; data: unknown }>({
    name: 'test_announced',
    text: 'select event, data from holdfast.events order by seq',
  });
  return rows.map(({ event, data }) => [event, data]);
}

async function unsubscribeAll(): Promise<void> {
  await test.database.execute('truncate holdfast.event_subscriptions');
}

describe('a queue', () => {
  async function makeQueue(): Promise<string> {
    const name = `queue-${randomUUID()}`;
    await createQueue(test.database, { projectId, name, settings: {} });
    return name;
  }
  const pause = (name: string, until?: Date) =>
    pauseQueue(test.database, { projectId, name, by: 'ada', reason: 'deploy', until });

  it('announces its pause, and the end of it once', async () => {
    const name = await makeQueue();
    const id = await pause(name);
    expect(await resumeQueue(test.database, { projectId, name })).toBe(id);
    expect(await resumeQueue(test.database, { projectId, name })).toBe(id);
    expect(await announced()).toEqual([
      ['QueuePaused', { queue: name, by: 'ada', reason: 'deploy' }],
      ['QueueResumed', { queue: name }],
    ]);
  });

  it('announces that its pause has run out', async () => {
    const name = await makeQueue();
    await pause(name, new Date(0));
    const { queueIds } = await promoteJobs(test.database);
    expect(queueIds).toHaveLength(1);
    expect((await announced()).at(-1)).toEqual([
      'QueueResumed',
      { queue: name, reason: 'pause_ended' },
    ]);
  });

  it('is silent where nobody subscribed', async () => {
    const name = await makeQueue();
    await unsubscribeAll();
    await pause(name);
    await resumeQueue(test.database, { projectId, name });
    await pause(name, new Date(0));
    await promoteJobs(test.database);
    expect(await announced()).toEqual([]);
  });
});

describe('a worker', () => {
  async function register({ leaseMs = 30_000 } = {}): Promise<string> {
    const id = randomUUID();
    await registerWorker(test.database, {
      ...{ projectId, id, host: 'host-1', pid: 7, build: 'test', labels: {} },
      ...{ queues: ['*'], types: ['a'], slots: 1, leaseMs },
    });
    return id;
  }
  const beat = (id: string, status: WorkerBeat['status']) =>
    beatWorker(test.database, {
      ...{ projectId, id, status, busySlots: 0, stuckSlots: 0, rssBytes: 1, loopLagMs: 0 },
    });

  it('announces its start, and once that it stops', async () => {
    const workerId = await register();
    await beat(workerId, 'active');
    expect(await beat(workerId, 'stopping')).toMatchObject({ known: true });
    await beat(workerId, 'stopping');
    await markWorkerStopped(test.database, { projectId, id: workerId });
    const data = { workerId, host: 'host-1', pid: 7 };
    expect(await announced()).toEqual([
      ['WorkerStarted', data],
      ['WorkerStopping', data],
    ]);
  });

  it('announces a stop that was over before the next heartbeat', async () => {
    const workerId = await register();
    await markWorkerStopped(test.database, { projectId, id: workerId });
    await markWorkerStopped(test.database, { projectId, id: workerId });
    const names = (await announced()).map((each) => (each as readonly unknown[])[0]);
    expect(names).toEqual(['WorkerStarted', 'WorkerStopping']);
  });

  it('is announced as lost once, until it is heard of again', async () => {
    await test.database.execute('truncate holdfast.workers');
    const workerId = await register({ leaseMs: 1 });
    const reap = () => reapExpiredLeases(test.database, { leaseMs: 0 });
    const losses = async () =>
      (await announced()).filter((each) => (each as readonly unknown[])[0] === 'WorkerLost');
    await reap();
    await reap();
    expect(await losses()).toEqual([['WorkerLost', { workerId, host: 'host-1', pid: 7 }]]);
    await beat(workerId, 'active');
    await reap();
    expect(await losses()).toHaveLength(2);
    await markWorkerStopped(test.database, { projectId, id: workerId });
    await reap();
    expect(await losses()).toHaveLength(2);
  });

  it('is silent where nobody subscribed', async () => {
    await unsubscribeAll();
    const id = await register();
    await beat(id, 'stopping');
    await markWorkerStopped(test.database, { projectId, id });
    expect(await announced()).toEqual([]);
  });
});

describe('a schedule', () => {
  const fireAt = new Date('2026-01-02T03:04:05Z');
  const laterAt = new Date('2026-01-03T03:04:05Z');

  it('announces each instant that made a job, once', async () => {
    const { id } = await makeSchedule(test.database, { name: 'nightly' });
    const fire = { projectId, id, fireAt, outcome: 'enqueued', jobId: randomUUID() } as const;
    const first = await recordFire(test.database, fire);
    const second = await recordFire(test.database, fire);
    expect([first, second]).toEqual([true, false]);
    const [[event, data] = []] = (await announced()) as readonly (readonly unknown[])[];
    expect(await announced()).toHaveLength(1);
    expect(event).toBe('ScheduleFired');
    expect(data).toMatchObject({ schedule: 'nightly', scheduleId: id, reason: 'enqueued' });
    expect(new Date((data as { readonly fireAt: string }).fireAt)).toEqual(fireAt);
  });

  it('announces instants that were missed together once, and none that were skipped', async () => {
    const { id } = await makeSchedule(test.database, { name: 'late' });
    const fireAts = [fireAt, laterAt];
    const record = (outcome: 'missed' | 'skipped_paused') =>
      recordUnfired(test.database, { projectId, id, fireAts, outcome });
    expect(await record('missed')).toBe(2);
    expect(await record('missed')).toBe(0);
    expect(await announced()).toMatchObject([['ScheduleMissed', { scheduleId: id, count: 2 }]]);
    const { id: paused } = await makeSchedule(test.database, { name: 'paused' });
    await recordUnfired(test.database, {
      ...{ projectId, id: paused, fireAts, outcome: 'skipped_paused' },
    });
    expect(await announced()).toHaveLength(1);
  });
});

describe('what other parts of Holdfast announce', () => {
  const jobId = randomUUID();
  const announce = () =>
    announceEvents(test.database, {
      projectId,
      events: [
        { event: 'JobDeduplicated', jobId, data: { type: 'a' } },
        { event: 'BatchFinished', data: { batchId: jobId } },
      ],
    });

  it('is written where somebody subscribed', async () => {
    await test.database.execute(
      `delete from holdfast.event_subscriptions where event <> 'JobDeduplicated'`,
    );
    await announce();
    expect(await announced()).toEqual([['JobDeduplicated', { type: 'a' }]]);
  });

  it('is not written in silence', async () => {
    await unsubscribeAll();
    await announce();
    await announceEvents(test.database, { projectId, events: [] });
    expect(await announced()).toEqual([]);
  });
});
