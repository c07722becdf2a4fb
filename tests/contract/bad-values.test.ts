import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function refusalOf(path: string, body: unknown) {
  const { status, json } = await api.inProject('POST', path, { body });
  return { status, code: json.code, pointers: json.errors?.map((one) => one.pointer) };
}

describe('instants', () => {
  it.each([
    '0001-01-01T00:00:00Z',
    '1999-12-31T23:59:59Z',
    '10000-01-01T00:00:00Z',
    '+275760-09-13T00:00:00.000Z',
    '9999-12-31T23:59:59Z',
    'infinity',
    'now',
    '2030-01-01T00:00:00',
    '2030-01-01',
    '2030-06-30T23:59:60Z',
    '2030-02-30T00:00:00Z',
    '2029-02-29T00:00:00Z',
    '2030-01-01T24:00:00Z',
    '2030-01-01T00:00:00+25:00',
    1_900_000_000,
    '1900000000',
    '',
  ])('refuses %j as runAt', async (runAt) => {
    expect(await refusalOf('/jobs', { type: 'x', runAt })).toMatchObject({
      status: 422,
      pointers: ['/runAt'],
    });
  });

  it('refuses runAt together with delay', async () => {
    const body = { type: 'x', runAt: '2030-01-01T00:00:00Z', delay: '1s' };
    expect(await refusalOf('/jobs', body)).toMatchObject({ status: 422, pointers: ['/runAt'] });
  });
});

describe('numbers', () => {
  const wrong = [-1, 1.5, 2 ** 31, 2 ** 53 - 1, '5', true, [1], {}];
  const fields = [
    ['priority', [...wrong, 10, null]],
    ['maxAttempts', [...wrong, 0, 101, null]],
  ] as const;
  it.each(fields.flatMap(([field, values]) => values.map((value) => [field, value] as const)))(
    'refuses %s: %j and names the field',
    async (field, value) => {
      const body = { type: 'x', [field]: value };
      expect(await refusalOf('/jobs', body)).toMatchObject({
        status: 422,
        pointers: [`/${field}`],
      });
    },
  );

  it('says which range is meant', async () => {
    const { json } = await api.inProject('POST', '/jobs', { body: { type: 'x', priority: 99 } });
    expect(json.errors?.[0]?.detail).toMatch(/9/);
  });

  it.each([-1, 0, 1.5, 2 ** 31, '5', true])('refuses a concurrency of %j', async (concurrency) => {
    const body = { name: 'q', concurrency };
    expect(await refusalOf('/queues', body)).toMatchObject({
      status: 422,
      pointers: ['/concurrency'],
    });
  });
});

describe('durations', () => {
  const wrong = [
    -1,
    0,
    5,
    '5',
    '-5s',
    '1y',
    'P1Y',
    'PT',
    '1e3s',
    'Infinity',
    '',
    ' 5s',
    '1h30m',
    true,
  ];
  it.each(wrong)('refuses %j as delay', async (delay) => {
    expect(await refusalOf('/jobs', { type: 'x', delay })).toMatchObject({
      status: 422,
      pointers: ['/delay'],
    });
  });

  it.each([...wrong, null, '0s', '999ms', '25h'])('refuses %j as timeout', async (timeout) => {
    expect(await refusalOf('/jobs', { type: 'x', timeout })).toMatchObject({
      status: 422,
      pointers: ['/timeout'],
    });
  });

  it('refuses delays of more than ten years', async () => {
    const body = { type: 'x', delay: '3651d' };
    expect(await refusalOf('/jobs', body)).toMatchObject({ status: 422, pointers: ['/delay'] });
  });

  it.each([
    [{ kind: 'exponential', factor: 11 }, '/backoff/factor'],
    [{ kind: 'exponential', base: '2d' }, '/backoff/base'],
    [{ kind: 'exponential', jitter: 'some' }, '/backoff/jitter'],
    [{ kind: 'list', delays: [] }, '/backoff/delays'],
    [{ kind: 'list', delays: ['1s', 2] }, '/backoff/delays/1'],
    [{ kind: 'fixed' }, '/backoff/delay'],
    [{ kind: 'linear' }, '/backoff/kind'],
    ['exponential', '/backoff'],
  ])('refuses the backoff %j', async (backoff, pointer) => {
    const answer = await refusalOf('/jobs', { type: 'x', backoff });
    expect(answer).toMatchObject({ status: 422, pointers: [pointer] });
  });
});

describe('names', () => {
  const wrong = [
    '',
    'n'.repeat(129),
    '../x',
    '..',
    '.',
    'a/b',
    'a b',
    ' a',
    'a\n',
    'a%00',
    'a%2Fb',
    '\u{1f600}',
    'a\u202eb',
    "'; drop table jobs; --",
    'caf\u00e9',
    'cafe\u0301',
    null,
    1,
    {},
  ];
  it.each(wrong)('refuses %j as type, queue and names', async (name) => {
    for (const [path, body, pointer] of [
      ['/jobs', { type: name }, '/type'],
      ['/jobs', { type: 'x', queue: name }, '/queue'],
      ['/queues', { name }, '/name'],
      ['/schedules', { name, cron: '* * * * *', job: { type: 'x' } }, '/name'],
    ] as const) {
      expect(await refusalOf(path, body)).toMatchObject({ status: 422, pointers: [pointer] });
    }
  });

  it('keeps every allowed character as it is', async () => {
    const name = 'AZaz09._:-'.padEnd(128, 'x');
    const body = { type: name, queue: name };
    const job = await api.client.enqueueJob({ params: { project: 'default' }, body });
    expect(job).toMatchObject(body);
    const queue = await api.client.getQueue({ params: { project: 'default', queue: name } });
    expect(queue.name).toBe(name);
  });

  it.each([
    ['21 tags', Array.from({ length: 21 }, (_, at) => `t${at}`), '/tags'],
    ['a long tag', ['t'.repeat(65)], '/tags/0'],
    ['an empty tag', [''], '/tags/0'],
    ['a control character in a tag', ['a\u0007'], '/tags/0'],
    ['the same tag twice', ['a', 'a'], '/tags'],
    ['no list', 'a', '/tags'],
  ])('refuses %s', async (_, tags, pointer) => {
    expect(await refusalOf('/jobs', { type: 'x', tags })).toMatchObject({
      status: 422,
      pointers: [pointer],
    });
  });
});

describe('schedules', () => {
  const schedule = { name: 'nightly', job: { type: 'x' } };
  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '* * * * * * *',
    '*/0 * * * *',
    '60 * * * *',
    '5-1 * * * *',
    '1,,2 * * * *',
    '0 0 30 2 *',
    '? * * * *',
    '0 0 L-3 * *',
    '0 0 1W * *',
    '0 0 * * 1#6',
    'x'.repeat(10_240),
    '\u0661 * * * *',
    '@reboot',
    '* * * * mond',
    42,
    null,
  ])('refuses the cron expression %j', async (cron) => {
    const answer = await refusalOf('/schedules', { ...schedule, cron });
    expect(answer).toMatchObject({ status: 422, pointers: ['/cron'] });
  });

  it.each(['0 3 * * mon-fri', '*/5 * * * *', '0 0 L * *', '0 0 * JAN,MAR 5#2', '0 12 * * 7'])(
    'accepts %s',
    async (cron) => {
      const answer = await api.inProject('POST', '/schedules/preview', { body: { cron } });
      expect(answer.status).toBe(200);
      expect(answer.json.data).toHaveLength(20);
    },
  );

  it.each(['Mars/Phobos', '+02:00', 'EST5EDT', 'FOO+99', '', 'Europe/Berlin\u0000x', 7])(
    'refuses the zone %j',
    async (timezone) => {
      const answer = await refusalOf('/schedules', { ...schedule, cron: '* * * * *', timezone });
      expect(answer).toMatchObject({ status: 422, pointers: ['/timezone'] });
    },
  );

  it('writes a zone in its canonical form', async () => {
    const made = await api.client.createSchedule({
      params: { project: 'default' },
      body: { ...schedule, name: 'zoned', cron: '0 3 * * *', timezone: 'europe/berlin' },
    });
    expect(made.timezone).toBe('Europe/Berlin');
  });

  it.each([
    [{}, '/cron'],
    [{ cron: '* * * * *', every: '5m' }, '/cron'],
    [{ every: '999ms' }, '/every'],
    [{ every: '5m', jitter: '10s' }, '/jitter'],
    [{ every: '5m', overlap: 'buffer_one' }, '/overlap'],
    [{ every: '5m', catchUp: 'some' }, '/catchUp'],
    [{ every: '5m', job: { type: 'x', delay: '5m' } }, '/job/delay'],
  ])('refuses %j', async (settings, pointer) => {
    const answer = await refusalOf('/schedules', { ...schedule, ...settings });
    expect(answer).toMatchObject({ status: 422, pointers: [pointer] });
  });
});

describe('ids', () => {
  const id = '019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90';
  it.each([
    id,
    id.toUpperCase(),
    '0',
    '-1',
    '9'.repeat(400),
    'null',
    `${id}'--`,
    `%27%20or%201=1`,
    `${id}%00`,
    '..%2f..%2fqueues',
    '%F0%9F%98%80',
  ])('answers alike for an unknown id and for what is none: %s', async (unknown) => {
    for (const path of [`/jobs/${unknown}`, `/jobs/${unknown}/executions`]) {
      const sent = await api.inProject('GET', path);
      expect([sent.status, sent.json.code]).toEqual([404, 'job_not_found']);
    }
    const schedule = await api.inProject('GET', `/schedules/${unknown}`);
    expect([schedule.status, schedule.json.code]).toEqual([404, 'schedule_not_found']);
    const worker = await api.inProject('POST', `/workers/${unknown}/quiet`);
    expect([worker.status, worker.json.code]).toEqual([404, 'worker_not_found']);
  });

  it.each(['a%00b', '%F0%9F%98%80', '..%2fdefault'])(
    'answers alike for an unknown project and for what is none: %s',
    async (slug) => {
      const sent = await api.send('GET', `/api/v1/projects/${slug}/jobs`);
      expect([sent.status, sent.json.code]).toEqual([404, 'project_not_found']);
    },
  );

  it('is 400 for a path that is not percent-encoded UTF-8', async () => {
    expect((await api.inProject('GET', '/jobs/%E0%A4%A')).status).toBe(400);
  });
});

describe('queries', () => {
  it.each([
    'limit=-1',
    'limit=0',
    'limit=201',
    'limit=1000000000',
    'limit=NaN',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'sort=payload',
    'order=desc',
    'status=done',
    'status=',
    'queue=a/b',
    'createdAfter=yesterday',
    'createdAfter=2026-13-01T00:00:00Z',
    'tag=',
    'batch=1',
    'keys=1',
    '__proto__=1',
    'constructor[prototype][polluted]=1',
  ])('refuses ?%s', async (query) => {
    const sent = await api.inProject('GET', `/jobs?${query}`);
    expect(sent.status).toBe(422);
    expect(sent.json.errors?.[0]?.pointer).toMatch(/^\?/);
  });

  it('refuses a NUL in a query', async () => {
    const sent = await api.inProject('GET', '/jobs?tag=a%00b');
    expect([sent.status, sent.json.code]).toEqual([422, 'invalid_unicode']);
  });

  it.each([
    [String.raw`{"a":"\u0000"}`, 'invalid_unicode'],
    [String.raw`{"a":"\ud800"}`, 'invalid_unicode'],
    ['{"a":1e400000}', 'number_not_exact'],
  ])('refuses to look for what no payload can have: %s', async (payload, code) => {
    const sent = await api.inProject('GET', `/jobs?payload=${encodeURIComponent(payload)}`);
    expect([sent.status, sent.json.code]).toEqual([422, code]);
    expect(sent.json.errors?.[0]?.pointer).toBe('?payload');
  });

  it('takes instants with any offset', async () => {
    const query = `createdAfter=${encodeURIComponent('2026-01-01T00:00:00+23:59')}`;
    expect((await api.inProject('GET', `/jobs?${query}`)).status).toBe(200);
  });

  it('refuses cursors that are forged, of another list, or of another filter', async () => {
    const params = { project: 'default' };
    for (let at = 0; at < 3; at += 1) {
      await api.client.enqueueJob({ params, body: { type: 'cursor', queue: `cursor${at}` } });
    }
    const page = await api.client.listJobs({ params, query: { type: 'cursor', limit: 1 } });
    const cursor = page.nextCursor ?? '';
    const queues = await api.client.listQueues({ params, query: { limit: 1 } });
    const forged = cursor.startsWith('A') ? `B${cursor.slice(1)}` : `A${cursor.slice(1)}`;
    for (const query of [
      `type=cursor&cursor=${forged}`,
      `type=cursor&cursor=x`,
      `type=cursor&cursor=${'x'.repeat(1_000)}`,
      `type=cursor&cursor=${queues.nextCursor ?? ''}`,
      `type=other&cursor=${cursor}`,
    ]) {
      const sent = await api.inProject('GET', `/jobs?${query}`);
      expect([query, sent.status, sent.json.code]).toEqual([query, 422, 'cursor_invalid']);
    }
    expect((await api.inProject('GET', `/jobs?type=cursor&cursor=${cursor}`)).status).toBe(200);
  });
});
