import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;
const one = (id: string) => ({ ...params, id });

describe('enqueueing one job', () => {
  it('answers the job with its defaults, and where it is', async () => {
    const sent = await api.inProject('POST', '/jobs', { body: { type: 'mail.send' } });
    expect(sent.status).toBe(201);
    expect(sent.json).toMatchObject({
      type: 'mail.send',
      queue: 'default',
      status: 'queued',
      payload: {},
      priority: 5,
      attempt: 0,
      maxAttempts: 5,
      timeout: '5m',
      backoff: { kind: 'exponential', base: '5s', factor: 2, max: '1h', jitter: 'full' },
      retry: 'automatic',
      tags: [],
      metadata: {},
      result: null,
      deduplicated: false,
    });
    expect(sent.headers.get('location')).toBe(`/api/v1/projects/default/jobs/${sent.json.id}`);
  });

  it('keeps everything that a job can say', async () => {
    const job = {
      type: 'report',
      queue: 'reports',
      payload: { deep: [1, { a: 'ü' }], constructor: 'x', toString: 1 },
      priority: 0,
      maxAttempts: 3,
      timeout: 'PT1M',
      backoff: { kind: 'list', delays: ['10s', '1m'] },
      retry: 'manual',
      tags: ['a', 'b'],
      metadata: { trace: '1' },
    } as const;
    const made = await api.client.enqueueJob({ params, body: { ...job, delay: '10m' } });
    const read = await api.client.getJob({ params: one(made.id) });
    expect(read).toMatchObject({
      ...job,
      timeout: '1m',
      backoff: { kind: 'list', delays: ['10s', '1m'] },
      status: 'scheduled',
      executions: [],
    });
    expect(read.payload).toEqual(job.payload);
  });

  it('takes an instant in the past as now', async () => {
    const body = { type: 'late', runAt: '2001-01-01T00:00:00+01:00' };
    expect((await api.client.enqueueJob({ params, body })).status).toBe('queued');
  });

  it('schedules a job for an instant in the future', async () => {
    const runAt = new Date(Date.now() + 3_600_000).toISOString();
    const made = await api.client.enqueueJob({ params, body: { type: 'later', runAt } });
    expect(made).toMatchObject({ status: 'scheduled', runAt });
  });

  it('gives a job what its queue says, when it names nothing itself', async () => {
    const settings = { maxAttempts: 2, timeout: '30s', retry: 'manual' } as const;
    await api.client.createQueue({ params, body: { name: 'strict', ...settings } });
    const body = { type: 'x', queue: 'strict' };
    const made = await api.client.enqueueJob({ params, body });
    expect(made).toMatchObject(settings);
  });
});

describe('enqueueing many jobs', () => {
  it('inserts all of them and answers their ids in order', async () => {
    const jobs = Array.from({ length: 50 }, (_, index) => ({ type: 'bulk', payload: { index } }));
    const { data } = await api.client.enqueueJobs({ params, body: { jobs } });
    expect(data).toHaveLength(50);
    const seventh = await api.client.getJob({ params: one(data[7]?.id ?? '') });
    expect(seventh.payload).toEqual({ index: 7 });
  });

  it('takes the jobs as NDJSON too', async () => {
    const sent = await api.inProject('POST', '/jobs/bulk', {
      body: '{"type":"line"}\n{"type":"line","delay":"1h"}\n',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(sent.status).toBe(201);
    expect(sent.json.data?.map((job) => job['status'])).toEqual(['queued', 'scheduled']);
  });

  it('inserts none when one is wrong, and points at it', async () => {
    const jobs = [{ type: 'none' }, { type: 'none', priority: 10 }];
    const sent = await api.inProject('POST', '/jobs/bulk', { body: { jobs } });
    expect(sent.status).toBe(422);
    expect(sent.json.errors?.[0]).toMatchObject({ pointer: '/jobs/1/priority' });
    const { data } = await api.client.listJobs({ params, query: { type: 'none' } });
    expect(data).toEqual([]);
  });

  it('points at the line of NDJSON that is wrong', async () => {
    const sent = await api.inProject('POST', '/jobs/bulk', {
      body: '{"type":"a"}\n{"type":"\\u0000"}\n',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(sent.status).toBe(422);
    expect(sent.json.errors?.[0]).toMatchObject({ pointer: '/jobs/1/type' });
  });

  it.each([0, 10_001])('refuses %i jobs', async (length) => {
    const jobs = Array.from({ length }, () => ({ type: 'x' }));
    expect((await api.inProject('POST', '/jobs/bulk', { body: { jobs } })).status).toBe(422);
  });
});

describe('reading jobs', () => {
  it('lists them newest first, page by page, without payloads', async () => {
    for (let index = 0; index < 5; index += 1) {
      await api.client.enqueueJob({ params, body: { type: 'paged', payload: { index } } });
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { type: 'paged', limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const page = await api.client.listJobs({ params, query });
      expect(page.data.length).toBeLessThanOrEqual(2);
      expect(page.data[0]).not.toHaveProperty('payload');
      seen.push(...page.data.map((job) => job.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(5);
    expect([...seen].sort().reverse()).toEqual(seen);
  });

  it('filters by queue, status, tag, type, time and payload', async () => {
    const body = {
      type: 'found',
      queue: 'finding',
      tags: ['blue'],
      payload: { order: { id: 77 } },
    };
    const made = await api.client.enqueueJob({ params, body });
    await api.client.enqueueJob({ params, body: { ...body, tags: [], payload: {}, delay: '1h' } });
    const find = async (query: object) =>
      (await api.client.listJobs({ params, query: { queue: 'finding', ...query } })).data;
    expect(await find({})).toHaveLength(2);
    for (const query of [
      { status: 'queued' },
      { status: ['queued', 'running'] },
      { tag: 'blue' },
      { payload: '{"order":{"id":77}}' },
      { payload: '"id": 77' },
      { type: 'found', status: 'queued', createdAfter: '2020-01-01T00:00:00Z' },
    ]) {
      expect((await find(query)).map((job) => job.id)).toEqual([made.id]);
    }
    expect(await find({ createdBefore: '2020-01-01T00:00:00Z' })).toEqual([]);
    expect(await find({ status: 'completed' })).toEqual([]);
    expect(await find({ queue: 'unheard-of' })).toEqual([]);
  });

  it('finds jobs of every status by that status, wherever they are kept', async () => {
    const { factory, client } = api;
    const statuses = ['queued', 'scheduled', 'claimed', 'running', 'completed', 'failed'] as const;
    for (const status of [...statuses, 'dead_letter', 'cancelled'] as const) {
      const { id } = await factory.make(status, { type: `is-${status}` });
      const query = { status, type: `is-${status}` };
      const { data } = await client.listJobs({ params, query });
      expect(data.map((job) => job.id)).toEqual([id]);
      expect((await client.getJob({ params: one(id) })).status).toBe(status);
    }
  });

  it('shows each run of a job, the open one too', async () => {
    const { id } = await api.factory.running();
    const { executions } = await api.client.getJob({ params: one(id) });
    expect(executions).toMatchObject([{ seq: 1, attempt: 1, status: 'running', finishedAt: null }]);
    const { data } = await api.client.listExecutions({ params: one(id) });
    expect(data).toEqual(executions);
    expect((await api.client.listJobLogs({ params: one(id) })).data).toEqual([]);
  });

  it('answers at once when asked to wait for a job that has ended', async () => {
    const { id } = await api.factory.completed();
    const job = await api.client.getJob({ params: one(id), query: { wait: '20s' } });
    expect(job.status).toBe('completed');
  });

  it('waits until a job ends', async () => {
    const { id } = await api.factory.scheduled();
    const waiting = api.client.getJob({ params: one(id), query: { wait: '30s' } });
    await api.client.cancelJob({ params: one(id), body: {} });
    expect((await waiting).status).toBe('cancelled');
  });

  it('answers the job as it is when the wait is over', async () => {
    const { id } = await api.factory.scheduled();
    const job = await api.client.getJob({ params: one(id), query: { wait: '300ms' } });
    expect(job.status).toBe('scheduled');
  });
});

describe('changing a job that has not started', () => {
  it('changes payload, priority, tags and the instant', async () => {
    const { id } = await api.factory.scheduled();
    const runAt = new Date(Date.now() + 7_200_000).toISOString();
    const body = { payload: { new: true }, priority: 1, tags: ['x'], runAt };
    expect(await api.client.updateJob({ params: one(id), body })).toMatchObject(body);
  });

  it('answers 409 with the status of a job that runs', async () => {
    const { id } = await api.factory.running();
    const sent = await api.inProject('PATCH', `/jobs/${id}`, { body: { priority: 1 } });
    expect(sent.status).toBe(409);
    expect(sent.json).toMatchObject({ code: 'job_not_in_state', jobStatus: 'running' });
  });
});

describe('acting on jobs', () => {
  it('cancels a waiting job at once, and asks the worker of a running one', async () => {
    const waiting = await api.factory.queued();
    const ended = await api.client.cancelJob({ params: one(waiting.id), body: { reason: 'typo' } });
    expect(ended).toMatchObject({ status: 'cancelled', reason: 'typo' });
    const held = await api.factory.running();
    const asked = await api.client.cancelJob({ params: one(held.id), body: {} });
    expect(asked.status).toBe('running');
    expect(asked.cancelRequestedAt).not.toBeNull();
  });

  it('retries a failed job, hurries a scheduled one, replays a dead letter', async () => {
    const failed = await api.factory.failed();
    expect((await api.client.retryJob({ params: one(failed.id) })).status).toBe('queued');
    const scheduled = await api.factory.scheduled();
    expect((await api.client.runJobNow({ params: one(scheduled.id) })).status).toBe('queued');
    const dead = await api.factory.deadLetter();
    const replayed = await api.client.replayJob({ params: one(dead.id) });
    expect(replayed).toMatchObject({ id: dead.id, status: 'queued', attempt: 0, generation: 1 });
  });

  it('makes a new job like an old one', async () => {
    const old = await api.factory.completed({ payloadJson: '{"n":1}', tags: ['t'] });
    const made = await api.client.duplicateJob({ params: one(old.id) });
    expect(made.id).not.toBe(old.id);
    expect(made).toMatchObject({
      status: 'queued',
      payload: { n: 1 },
      tags: ['t'],
      type: old.type,
    });
  });

  it.each([
    ['cancel', 'completed'],
    ['cancel', 'cancelled'],
    ['cancel', 'dead_letter'],
    ['retry', 'queued'],
    ['retry', 'dead_letter'],
    ['run-now', 'queued'],
    ['run-now', 'running'],
    ['replay', 'completed'],
    ['replay', 'failed'],
  ] as const)('answers 409 with the status: %s of a %s job', async (action, status) => {
    const { id } = await api.factory.make(status);
    const sent = await api.inProject('POST', `/jobs/${id}/${action}`);
    expect(sent.status).toBe(409);
    expect(sent.json).toMatchObject({ code: 'job_not_in_state', jobStatus: status });
  });

  it.each(['cancel', 'retry', 'run-now', 'replay', 'duplicate'])(
    'answers 404: %s of a job that does not exist',
    async (action) => {
      const path = `/jobs/019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90/${action}`;
      const sent = await api.inProject('POST', path);
      expect([sent.status, sent.json.code]).toEqual([404, 'job_not_found']);
    },
  );
});

describe('dead letters', () => {
  it('lists them last ended first and groups them by fingerprint', async () => {
    const error = (fingerprint: string) => ({ code: 'boom', message: 'Boom 1', fingerprint });
    const queue = 'graves';
    const first = await api.factory.deadLetter({ queue, error: error('aaaa') });
    const second = await api.factory.deadLetter({ queue, error: error('bbbb') });
    const third = await api.factory.deadLetter({ queue, error: error('aaaa') });
    const page = await api.client.listDeadLetters({ params, query: { queue, limit: 2 } });
    expect(page.data.map((job) => job.id)).toEqual([third.id, second.id]);
    const cursor = page.nextCursor ?? '';
    const rest = await api.client.listDeadLetters({ params, query: { queue, limit: 2, cursor } });
    expect(rest.data.map((job) => job.id)).toEqual([first.id]);
    expect(rest.nextCursor).toBeNull();
    const only = await api.client.listDeadLetters({ params, query: { fingerprint: 'bbbb' } });
    expect(only.data.map((job) => job.id)).toEqual([second.id]);
    const groups = await api.client.listDeadLetterGroups({ params, query: { queue } });
    const counts = groups.data.map((group) => [group.fingerprint, group.count]);
    expect(counts).toEqual([
      ['aaaa', 2],
      ['bbbb', 1],
    ]);
  });
});
