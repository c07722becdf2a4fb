import { randomUUID } from 'node:crypto';
import {
  beatWorker,
  durationBucketCount,
  findProject,
  recordStats,
  registerWorker,
  resolveQueues,
} from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;

/** With a lease that does not end while the test runs. */
async function makeWorker(leaseMs = 1_200_000): Promise<string> {
  const id = randomUUID();
  const project = await findProject(api.db.database, 'default');
  await registerWorker(api.db.database, {
    ...{ projectId: project?.id ?? '', id, leaseMs, host: 'box', pid: 4711, build: '1.0.0' },
    ...{ labels: { zone: 'a' }, queues: ['*'], types: ['x'], slots: 4 },
  });
  return id;
}

describe('workers', () => {
  it('are listed with how they are', async () => {
    const id = await makeWorker();
    const { data } = await api.client.listWorkers({ params });
    expect(data.find((worker) => worker.id === id)).toMatchObject({
      ...{ host: 'box', pid: 4711, build: '1.0.0', labels: { zone: 'a' }, slots: 4 },
      ...{ status: 'active', running: [] },
    });
  });

  it('show the jobs that they hold', async () => {
    const held = await api.factory.running();
    const project = await findProject(api.db.database, 'default');
    await registerWorker(api.db.database, {
      ...{ projectId: project?.id ?? '', id: held.workerId, leaseMs: 1_200_000, host: 'b', pid: 1 },
      ...{ build: '1', labels: {}, queues: ['*'], types: ['x'], slots: 1 },
    });
    const { data } = await api.client.listWorkers({ params });
    expect(data.find((worker) => worker.id === held.workerId)?.running).toEqual([held.id]);
  });

  it('are asked to be quiet, to go on and to stop, and learn of it with a heartbeat', async () => {
    const id = await makeWorker();
    const key = { params: { ...params, id } };
    const project = await findProject(api.db.database, 'default');
    const asked = async () => {
      const figures = { busySlots: 0, stuckSlots: 0, rssBytes: 1, loopLagMs: 0.5 };
      const beat = { projectId: project?.id ?? '', id, status: 'active' as const, ...figures };
      return (await beatWorker(api.db.database, beat)).requested;
    };
    expect((await api.client.quietWorker(key)).status).toBe('quiet');
    expect(await asked()).toBe('quiet');
    expect((await api.client.resumeWorker(key)).status).toBe('active');
    expect((await api.client.stopWorker(key)).status).toBe('stopping');
    expect(await asked()).toBe('stopping');
  });

  it('are lost when they have been silent for a lease', async () => {
    const id = await makeWorker();
    await api.db.database.execute(
      `update holdfast.workers set heartbeat_at = heartbeat_at - interval '30 minutes' where id = '${id}'`,
    );
    const { data } = await api.client.listWorkers({ params });
    expect(data.find((worker) => worker.id === id)?.status).toBe('lost');
    const overview = await waitFor('the overview is new', async () => {
      const seen = await api.client.getOverview({ params });
      return seen.workers.lost > 0 ? seen : undefined;
    });
    expect(overview.workers.lost).toBe(1);
    expect(overview.attention).toContainEqual({ kind: 'worker_lost', subject: id, count: 1 });
  });
});

describe('figures', () => {
  it('sum up the queues and say what needs a person', async () => {
    await api.factory.deadLetter({ queue: 'sick' });
    await api.factory.failed({ queue: 'sick' });
    await api.factory.queued({ queue: 'sick' });
    await api.client.pauseQueue({ params: { ...params, queue: 'sick' }, body: { reason: 'x' } });
    const overview = await waitFor('the overview is new', async () => {
      const seen = await api.client.getOverview({ params });
      return seen.queues.some(({ name, paused }) => name === 'sick' && paused) ? seen : undefined;
    });
    const sick = overview.queues.find(({ name }) => name === 'sick');
    expect(sick).toMatchObject({ paused: true, counts: { deadLetter: 1, failed: 1, queued: 1 } });
    expect(overview.attention).toEqual(
      expect.arrayContaining([
        { kind: 'dead_letters', subject: 'sick', count: 1 },
        { kind: 'failed_jobs', subject: 'sick', count: 1 },
        { kind: 'queue_paused', subject: 'sick', count: 1 },
      ]),
    );
  });

  it('answer a point for every minute of the last hour', async () => {
    const series = await api.client.getTimeseries({ params });
    expect(series.stepMs).toBe(60_000);
    expect(series.points.length).toBeGreaterThanOrEqual(60);
    expect(series.points[0]).toMatchObject({
      completed: 0,
      errorRate: null,
      waitMs: { p50: null },
    });
  });

  it('show what ended, with percentiles', async () => {
    const project = await findProject(api.db.database, 'default');
    const projectId = project?.id ?? '';
    const queues = await resolveQueues(api.db.database, projectId, ['measured']);
    const buckets = (at: number, count: number) =>
      Array.from({ length: durationBucketCount }, (_, index) => (index === at ? count : 0));
    await recordStats(api.db.database, {
      projectId,
      shard: randomUUID(),
      stats: [
        {
          queueId: queues.get('measured')?.id ?? '',
          ...{ completed: 8, failed: 2, deadLetter: 1, cancelled: 3, waitMsSum: 80, runMsSum: 800 },
          ...{ waitBuckets: buckets(8, 10), runBuckets: buckets(14, 10) },
        },
      ],
    });
    const query = { queue: 'measured' };
    const { points } = await api.client.getTimeseries({ params, query });
    const [point] = points.filter(({ completed }) => completed > 0);
    expect(point).toMatchObject({
      completed: 8,
      failed: 2,
      deadLettered: 1,
      cancelled: 3,
      errorRate: 0.2,
    });
    // Bucket 8 holds 11.3 to 16 ms, bucket 14 90.5 to 128 ms.
    expect(point?.waitMs.p50).toBe(14);
    expect(point?.runMs.p95).toBe(126);
    const hourly = await api.client.getTimeseries({ params, query: { ...query, step: '1h' } });
    expect(hourly.points.reduce((sum, { completed }) => sum + completed, 0)).toBe(8);
  });

  it.each([
    'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
    'from=2020-01-01T00:00:00Z',
    'from=2026-01-01T00:00:00Z&to=2026-01-20T00:00:00Z&step=1m',
    'step=1s',
    'step=2d',
    'days=1000000000',
    'step=-1m',
  ])('refuse ?%s', async (query) => {
    expect((await api.inProject('GET', `/stats/timeseries?${query}`)).status).toBe(422);
  });
});
