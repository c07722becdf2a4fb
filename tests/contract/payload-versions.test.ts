import { randomUUID } from 'node:crypto';
import { registerWorker } from '@holdfast/database';
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
const queue = 'versions';
const later = { queue, delay: '1h', payloadVersion: 3 };

const enqueue = (body: object = {}) =>
  api.client.enqueueJob({ params, body: { type: 'invoice', queue, ...body } });
const read = (id: string) => api.client.getJob({ params: { ...params, id } });
const versionsOf = (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await read(id)).payloadVersion));

describe('the version of a payload', () => {
  it('is 1 where nothing is said of it', async () => {
    expect(await enqueue()).toMatchObject({ payloadVersion: 1 });
  });

  it('is answered by every route about jobs', async () => {
    const { id, payloadVersion } = await enqueue({ payloadVersion: 3 });
    expect(payloadVersion).toBe(3);
    expect(await read(id)).toMatchObject({ payloadVersion: 3 });
    const { data } = await api.client.listJobs({ params, query: { queue } });
    expect(data.find((job) => job.id === id)?.payloadVersion).toBe(3);
  });

  it('arrives with jobs that are sent together', async () => {
    const jobs = [
      { type: 'invoice', ...later },
      { type: 'invoice', queue, delay: '1h' },
    ];
    const bulk = await api.client.enqueueJobs({ params, body: { jobs } });
    expect(await versionsOf(bulk.data.map(({ id }) => id))).toEqual([3, 1]);
    const batch = await api.client.createBatch({ params, body: { jobs } });
    expect(await versionsOf(batch.jobIds)).toEqual([3, 1]);
    const chain = await api.client.createChain({ params, body: { jobs } });
    expect(await versionsOf(chain.jobIds)).toEqual([3, 1]);
  });

  it('arrives with the callback of a batch', async () => {
    const callbacks = { then: { type: 'invoice', queue, payloadVersion: 5 } };
    const { id } = await api.client.createBatch({ params, body: { jobs: [], callbacks } });
    const made = await waitFor('the callback is made', async () => {
      const { data } = await api.client.listJobs({ params, query: { batch: id } });
      return data[0];
    });
    expect(made.payloadVersion).toBe(5);
  });

  it('goes with the content that takes another job’s place', async () => {
    const unique = { key: randomUUID(), onConflict: 'replace' } as const;
    const { id } = await enqueue({ ...later, unique });
    await enqueue({ ...later, unique, payloadVersion: 4 });
    expect(await versionsOf([id])).toEqual([4]);
  });

  it('is copied with a job', async () => {
    const { id } = await enqueue(later);
    const copy = await api.client.duplicateJob({ params: { ...params, id }, body: {} });
    expect(copy.payloadVersion).toBe(3);
  });

  it('stays when a job gets another payload, unless the change says otherwise', async () => {
    const { id } = await enqueue(later);
    const change = (body: object) => api.client.updateJob({ params: { ...params, id }, body });
    expect(await change({ payload: [1] })).toMatchObject({ payload: [1], payloadVersion: 3 });
    expect(await change({ payload: [2], payloadVersion: 4 })).toMatchObject({ payloadVersion: 4 });
    expect(await change({ payloadVersion: 1 })).toMatchObject({ payload: [2], payloadVersion: 1 });
  });

  it('is that of the jobs of a schedule', async () => {
    const job = { type: 'invoice', queue, payloadVersion: 3 };
    const body = { name: `s-${randomUUID()}`, cron: '0 0 1 1 *', job };
    const schedule = await api.client.createSchedule({ params, body });
    expect(schedule.job.payloadVersion).toBe(3);
    const key = { params: { ...params, id: schedule.id } };
    const { jobId } = await api.client.runScheduleNow({ ...key, body: {} });
    expect(await versionsOf([jobId ?? ''])).toEqual([3]);
    const changed = await api.client.updateSchedule({
      ...key,
      body: { job: { type: 'invoice', queue } },
    });
    expect(changed.job.payloadVersion).toBe(1);
  });

  it('is that of the jobs of a subscription', async () => {
    const event = `shop.${randomUUID()}`;
    const job = { type: 'invoice', queue, payloadVersion: 3 };
    const subscription = await api.client.subscribeEvent({ params, body: { event, job } });
    expect(subscription.job?.payloadVersion).toBe(3);
    const { jobIds } = await api.client.emitEvent({ params, body: { event, data: {} } });
    expect(await versionsOf(jobIds)).toEqual([3]);
  });

  it.each([0, 32_768, 1.5, '2', null])('cannot be %j', async (payloadVersion) => {
    const body = { type: 'invoice', payloadVersion };
    const { status, json } = await api.inProject('POST', '/jobs', { body });
    expect(status).toBe(422);
    expect(json).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/payloadVersion' }],
    });
  });
});

describe('a job whose version no worker takes', () => {
  async function addWorker(...types: readonly string[]): Promise<string> {
    const id = randomUUID();
    await registerWorker(api.db.database, {
      ...{ projectId: api.factory.projectId, id, leaseMs: 30_000, host: 'box', pid: 1, build: '1' },
      ...{ labels: {}, queues: ['stranded'], types, slots: 1 },
    });
    return id;
  }

  const strandedNow = async () =>
    (await api.client.getOverview({ params })).attention.filter(
      ({ kind }) => kind === 'no_worker_for_job',
    );

  it('is told of until a worker comes for it', async () => {
    const id = await addWorker('invoice', 'invoice@2');
    const { data } = await api.client.listWorkers({ params });
    expect(data.find((worker) => worker.id === id)).toMatchObject({
      queues: ['stranded'],
      types: ['invoice', 'invoice@2'],
    });
    await enqueue({ queue: 'stranded', payloadVersion: 3 });
    const told = await waitFor('the overview is new', async () => {
      const stranded = await strandedNow();
      return stranded.length > 0 && stranded;
    });
    expect(told).toEqual([{ kind: 'no_worker_for_job', subject: 'invoice@3', count: 1 }]);
    await addWorker('invoice', 'invoice@2', 'invoice@3');
    await waitFor('nothing is left to tell', async () => (await strandedNow()).length === 0);
  });
});
