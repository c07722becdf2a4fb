import { ApiError } from '@holdfast/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;
const named = (queue: string) => ({ ...params, queue });
const codeOf = (error: unknown): unknown =>
  error instanceof ApiError ? [error.status, error.code] : error;

describe('queues', () => {
  it('are created with their settings, read and listed', async () => {
    const retry = { maxAttempts: 9, backoff: { kind: 'fixed', delay: '7s' } } as const;
    const made = await api.client.createQueue({
      params,
      body: { name: 'mail', concurrency: 3, ...retry },
    });
    expect(made).toMatchObject({
      name: 'mail',
      concurrency: 3,
      paused: null,
      ...{ maxAttempts: 9, timeout: '5m', backoff: retry.backoff },
      ...{ retry: 'automatic', retryUntil: null, maxExceptions: null },
      counts: { queued: 0, scheduled: 0, claimed: 0, running: 0, failed: 0, deadLetter: 0 },
      oldestWaitMs: null,
    });
    expect(await api.client.getQueue({ params: named('mail') })).toEqual(made);
    const { data } = await api.client.listQueues({ params });
    expect(data.map(({ name }) => name)).toContain('mail');
    const again = api.client.createQueue({ params, body: { name: 'mail' } });
    expect(codeOf(await again.catch((error: unknown) => error))).toEqual([409, 'queue_exists']);
  });

  it('count their jobs by status', async () => {
    const queue = 'counted';
    // Queued ones last: whatever waits in the queue, the factory would claim first.
    for (const status of [
      'scheduled',
      'running',
      'failed',
      'dead_letter',
      'queued',
      'queued',
    ] as const) {
      await api.factory.make(status, { queue });
    }
    const { counts, oldestWaitMs } = await api.client.getQueue({ params: named(queue) });
    expect(counts).toEqual({
      queued: 2,
      scheduled: 1,
      claimed: 0,
      running: 1,
      failed: 1,
      deadLetter: 1,
    });
    expect(oldestWaitMs).toBeGreaterThanOrEqual(0);
  });

  it('are listed by name, page by page', async () => {
    for (const name of ['p1', 'p2', 'p3']) await api.client.createQueue({ params, body: { name } });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const page = await api.client.listQueues({ params, query });
      names.push(...page.data.map(({ name }) => name));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['p1', 'p2', 'p3']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('change only in what is named, and not over a newer change', async () => {
    await api.client.createQueue({ params, body: { name: 'edited', concurrency: 5 } });
    const read = await api.client.send('getQueue', { params: named('edited') });
    const ifMatch = read.etag ?? '';
    expect(ifMatch).toMatch(/^"r\d+"$/);
    const first = await api.client.send('updateQueue', {
      params: named('edited'),
      body: { retry: 'manual', retryUntil: '1d', maxExceptions: 2 },
      ifMatch,
    });
    expect(first.body).toMatchObject({
      concurrency: 5,
      ...{ retry: 'manual', maxAttempts: 5, retryUntil: '1d', maxExceptions: 2 },
    });
    expect(first.etag).not.toBe(ifMatch);
    const late = api.client.updateQueue({
      params: named('edited'),
      body: { concurrency: 1 },
      ifMatch,
    });
    expect(codeOf(await late.catch((error: unknown) => error))).toEqual([
      412,
      'precondition_failed',
    ]);
    const free = await api.client.updateQueue({
      params: named('edited'),
      body: { concurrency: null, retryUntil: null },
      ifMatch: '*',
    });
    expect(free).toMatchObject({
      ...{ concurrency: null, retry: 'manual', retryUntil: null, maxExceptions: 2 },
    });
  });

  it('pause with a reason and resume', async () => {
    await api.client.createQueue({ params, body: { name: 'stopped' } });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const paused = await api.client.pauseQueue({
      params: named('stopped'),
      body: { reason: 'provider outage', until },
    });
    expect(paused.paused).toMatchObject({
      reason: 'provider outage',
      by: 'owner@example.com',
      until,
    });
    const resumed = await api.client.resumeQueue({ params: named('stopped') });
    expect(resumed.paused).toBeNull();
  });

  it.each([
    {},
    { reason: '' },
    { reason: 'x', until: '2020-01-01T00:00:00Z' },
    { reason: 'a\u0007' },
  ])('refuse the pause %j', async (body) => {
    expect((await api.inProject('POST', '/queues/mail/pause', { body })).status).toBe(422);
  });

  it('tell while they drain how many jobs still run', async () => {
    const queue = 'draining';
    await api.factory.running({ queue });
    const answer = await api.client.drainQueue({
      params: named(queue),
      body: { reason: 'deploy' },
    });
    expect(answer).toMatchObject({ remaining: 1, drained: false, queue: { name: queue } });
    expect(answer.queue.paused).not.toBeNull();
  });

  it('are changed by many at once, when nobody asks for a revision', async () => {
    const name = 'busy';
    await api.client.createQueue({ params: { project: 'default' }, body: { name } });
    const changes = Array.from({ length: 8 }, (_, at) =>
      api.inProject('PATCH', `/queues/${name}`, { body: { concurrency: at + 1 } }),
    );
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('begin open when one of the same name was deleted while it was paused', async () => {
    const name = 'reborn';
    const params = { project: 'default' };
    await api.client.createQueue({ params, body: { name } });
    await api.client.pauseQueue({ params: named(name), body: { reason: 'moving' } });
    await api.client.deleteQueue({ params: named(name) });
    const again = await api.client.createQueue({ params, body: { name } });
    expect(again.paused).toBeNull();
  });

  it('are purged of what waits, once the name is typed', async () => {
    const queue = 'purged';
    const waiting = await api.factory.queued({ queue });
    await api.factory.scheduled({ queue });
    const running = await api.factory.running({ queue: `${queue}-other` });
    const wrong = await api.inProject('POST', `/queues/${queue}/purge`, { body: { confirm: 'x' } });
    expect(wrong.status).toBe(422);
    const answer = await api.client.purgeQueue({ params: named(queue), body: { confirm: queue } });
    expect(answer).toEqual({ purged: 2 });
    const gone = await api.client.getJob({ params: { ...params, id: waiting.id } });
    expect(gone).toMatchObject({ status: 'cancelled', reason: 'purged' });
    const kept = await api.client.getJob({ params: { ...params, id: running.id } });
    expect(kept.status).toBe('running');
  });

  it('are deleted only when they are empty', async () => {
    const { id } = await api.factory.queued({ queue: 'full' });
    const refused = await api.inProject('DELETE', '/queues/full');
    expect([refused.status, refused.json.code]).toEqual([409, 'queue_not_empty']);
    await api.client.cancelJob({ params: { ...params, id }, body: {} });
    expect((await api.inProject('DELETE', '/queues/full')).status).toBe(204);
    expect((await api.inProject('DELETE', '/queues/full')).status).toBe(404);
    expect((await api.inProject('GET', '/queues/full')).status).toBe(404);
  });
});

describe('schedules', () => {
  const job = {
    type: 'report',
    queue: 'reports',
    payload: { n: 1 },
    maxAttempts: 2,
    timeout: '1m',
    maxExceptions: 3,
  };
  const one = (id: string) => ({ ...params, id });

  it('are created, read, listed, changed and deleted', async () => {
    const body = { name: 'daily', cron: '0 3 * * *', timezone: 'Europe/Berlin', job };
    const made = await api.client.createSchedule({ params, body });
    expect(made).toMatchObject({
      ...{ ...body, job: { ...job, retry: 'automatic' } },
      every: null,
      catchUp: 'latest',
      catchUpWindow: '1h',
      overlap: 'skip',
      paused: null,
      lastFire: null,
    });
    expect(Date.parse(made.nextFireAt ?? '')).toBeGreaterThan(Date.now());
    expect(await api.client.getSchedule({ params: one(made.id) })).toEqual(made);
    const listed = await api.client.listSchedules({ params });
    expect(listed.data).toContainEqual(made);
    const changed = await api.client.updateSchedule({
      params: one(made.id),
      body: { every: '15m', overlap: 'allow' },
    });
    expect(changed).toMatchObject({ cron: null, every: '15m', overlap: 'allow', job });
    const retryUntil = '2030-01-01T00:00:00.000Z';
    const ending = await api.client.updateSchedule({
      params: one(made.id),
      body: { job: { ...job, retryUntil } },
    });
    expect(ending.job).toMatchObject({ ...job, retryUntil });
    await api.client.deleteSchedule({ params: one(made.id) });
    expect((await api.inProject('GET', `/schedules/${made.id}`)).status).toBe(404);
  });

  it('have names that are theirs alone', async () => {
    const body = { name: 'twice', every: '1h', job };
    await api.client.createSchedule({ params, body });
    const again = api.client.createSchedule({ params, body });
    expect(codeOf(await again.catch((error: unknown) => error))).toEqual([409, 'schedule_exists']);
  });

  it('are not changed over a newer change', async () => {
    const made = await api.client.send('createSchedule', {
      params,
      body: { name: 'guarded', every: '1h', job },
    });
    const call = {
      params: one(made.body.id),
      body: { overlap: 'allow' as const },
      ifMatch: made.etag ?? '',
    };
    await api.client.updateSchedule(call);
    const late = api.client.updateSchedule(call);
    expect(codeOf(await late.catch((error: unknown) => error))).toEqual([
      412,
      'precondition_failed',
    ]);
  });

  it('pause, resume for the future only, and run by hand', async () => {
    const body = { name: 'handled', every: '1h', job };
    const { id } = await api.client.createSchedule({ params, body });
    const paused = await api.client.pauseSchedule({ params: one(id), body: { reason: 'audit' } });
    expect(paused.paused).toMatchObject({ reason: 'audit', by: 'owner@example.com' });
    const resumed = await api.client.resumeSchedule({ params: one(id) });
    expect(resumed.paused).toBeNull();
    expect(Date.parse(resumed.nextFireAt ?? '')).toBeGreaterThan(Date.now());
    const fire = await api.client.runScheduleNow({ params: one(id) });
    expect(fire.outcome).toBe('manual');
    const made = await api.client.getJob({ params: one(fire.jobId ?? '') });
    expect(made).toMatchObject({ ...job, scheduleId: id, status: 'queued' });
    const fires = await api.client.listScheduleFires({ params: one(id) });
    expect(fires.data).toMatchObject([{ outcome: 'manual', jobId: made.id }]);
    const { lastFire } = await api.client.getSchedule({ params: one(id) });
    expect(lastFire).toMatchObject({ outcome: 'manual', jobId: made.id });
  });

  it('run once for each request, also when many come within one millisecond', async () => {
    const body = { name: 'hurried', every: '1h', job };
    const { id } = await api.client.createSchedule({ params, body });
    const runs = Array.from({ length: 20 }, () => api.client.runScheduleNow({ params: one(id) }));
    const fires = await Promise.all(runs);
    expect(new Set(fires.map(({ jobId }) => jobId)).size).toBe(20);
    expect(new Set(fires.map(({ fireAt }) => fireAt)).size).toBe(20);
  });

  it('are previewed with local time, offset and the days on which clocks change', async () => {
    const body = { cron: '0 12 * * *', timezone: 'America/New_York', count: 100 };
    const longer = { ...body, cron: '0 12 1,8,15 3,11 *' };
    const { data } = await api.client.previewSchedule({ params, body: longer });
    expect(data).toHaveLength(100);
    expect(data.every(({ local }) => local.endsWith('T12:00:00'))).toBe(true);
    expect(new Set(data.map(({ offset }) => offset))).toEqual(new Set(['-04:00', '-05:00']));
    expect(data.some(({ dstChange }) => dstChange)).toBe(true);
    expect(data.some(({ dstChange }) => !dstChange)).toBe(true);
  });
});

describe('many transactions at once', () => {
  it('do not wait for one another to find their queues', async () => {
    const params = { project: 'default' };
    const names = Array.from({ length: 25 }, (_, at) => `crowd${String(at)}`);
    const schedules = await Promise.all(
      names.map((name) =>
        api.client.createSchedule({
          params,
          body: { name, every: '1d', timezone: 'UTC', job: { type: 'x', queue: name } },
        }),
      ),
    );
    const runs = await Promise.all(
      schedules.map(({ id }) => api.inProject('POST', `/schedules/${id}/run-now`)),
    );
    expect(runs.map(({ status }) => status)).toEqual(names.map(() => 201));
  });
});
