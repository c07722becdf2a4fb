import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;

function enqueue(key: string, body: unknown) {
  return api.inProject('POST', '/jobs', { body, headers: { 'idempotency-key': key } });
}

async function countOf(type: string): Promise<number> {
  return (await api.client.listJobs({ params, query: { type } })).data.length;
}

describe('the same idempotency key', () => {
  it('gets the first answer again, and makes one job', async () => {
    const first = await enqueue('one', { type: 'once' });
    const second = await enqueue('one', { type: 'once' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.json).toEqual(first.json);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await countOf('once')).toBe(1);
  });

  it('with another body is refused', async () => {
    await enqueue('two', { type: 'first' });
    const sent = await enqueue('two', { type: 'other' });
    expect([sent.status, sent.json.code]).toEqual([422, 'idempotency_key_reused']);
    expect(await countOf('other')).toBe(0);
  });

  it('on another route is refused', async () => {
    await enqueue('three', { type: 'first' });
    const headers = { 'idempotency-key': 'three' };
    const sent = await api.inProject('POST', '/queues', { body: { name: 'q3' }, headers });
    expect(sent.json.code).toBe('idempotency_key_reused');
  });

  it('makes one job of twenty requests at once', async () => {
    const sent = await Promise.all(
      Array.from({ length: 20 }, () => enqueue('many', { type: 'race' })),
    );
    expect(new Set(sent.map(({ json }) => json.id)).size).toBe(1);
    expect(sent.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(
      1,
    );
    expect(await countOf('race')).toBe(1);
  });

  it('is free again after a refusal', async () => {
    expect((await enqueue('four', { type: 'x', priority: 99 })).status).toBe(422);
    expect((await enqueue('four', { type: 'x' })).status).toBe(201);
  });

  it('is forgotten after 24 hours', async () => {
    const first = await enqueue('old', { type: 'aged' });
    await api.db.database.execute(
      `update holdfast.idempotency_keys set created_at = created_at - interval '25 hours'`,
    );
    const second = await enqueue('old', { type: 'aged' });
    expect(second.json.id).not.toBe(first.json.id);
  });

  it.each(['', ' ', 'a b', '\u00fc', 'k'.repeat(256)])(
    'is refused in the form "%s"',
    async (key) => {
      const sent = await api.inProject('POST', '/jobs', {
        body: { type: 'x' },
        headers: { 'idempotency-key': Buffer.from(key).toString('latin1') },
      });
      // An empty header never leaves some clients.
      expect(sent.status).toBe(422);
      expect(sent.json.errors?.[0]).toMatchObject({ pointer: 'Idempotency-Key' });
    },
  );
});

it('works for every route that creates something', async () => {
  const scheduleBody = { name: 'idem', every: '1h', job: { type: 'x' } };
  const schedule = await api.client.createSchedule({
    params,
    body: { ...scheduleBody, name: 'base' },
  });
  const job = await api.factory.completed();
  const requests: readonly (readonly [string, unknown])[] = [
    ['/jobs', { type: 'x' }],
    ['/jobs/bulk', { jobs: [{ type: 'x' }] }],
    [`/jobs/${job.id}/duplicate`, {}],
    ['/queues', { name: 'idem' }],
    ['/schedules', scheduleBody],
    [`/schedules/${schedule.id}/run-now`, {}],
    ['/api-keys', { name: 'idem', scopes: ['read'] }],
  ];
  for (const [path, body] of requests) {
    const headers = { 'idempotency-key': `all:${path}` };
    const first = await api.inProject('POST', path, { body, headers });
    const second = await api.inProject('POST', path, { body, headers });
    expect([path, first.status, second.status]).toEqual([path, 201, 201]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.json).toEqual(first.json);
  }
});
