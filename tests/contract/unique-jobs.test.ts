import { uniqueDigest } from '@holdfast/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;
const send = (body: unknown) => api.inProject('POST', '/jobs', { body });
const sendAll = (jobs: readonly unknown[]) =>
  api.inProject('POST', '/jobs/bulk', { body: { jobs } });

describe('a job with a unique key', () => {
  it('is made, and the next one is answered with it', async () => {
    const body = { type: 'sync', delay: '1h', unique: { key: 'keep' } };
    const first = await send(body);
    expect(first.status).toBe(201);
    expect(first.json).toMatchObject({
      unique: { key: 'keep', scope: 'type', until: 'done' },
      ...{ deduplicated: false, conflict: null, holderId: null },
    });
    const second = await send({ ...body, payload: 'other' });
    expect(second.status).toBe(200);
    expect(second.json).toMatchObject({
      ...{ id: first.json.id, status: 'scheduled', payload: {} },
      ...{ deduplicated: true, conflict: 'kept', holderId: null },
    });
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
  });

  it('replaces the payload of the first one, or makes it wait anew', async () => {
    const replace = { type: 'sync', unique: { key: 'replace', onConflict: 'replace' } };
    const { json } = await send(replace);
    const second = await send({ ...replace, payload: 2, priority: 1 });
    expect(second.json).toMatchObject({
      id: json.id,
      payload: 2,
      priority: 1,
      conflict: 'replaced',
    });
    const unique = { key: 'calm', onConflict: 'debounce', wait: '1m', maxWait: 'PT5M' };
    await send({ type: 'sync', unique });
    const calm = await send({ type: 'sync', unique, payload: 3 });
    expect(calm.json).toMatchObject({
      ...{ status: 'scheduled', payload: 3, conflict: 'debounced' },
      unique: { key: 'calm', scope: 'type', until: 'start' },
    });
  });

  it('is refused with the holder’s id where it asks for that', async () => {
    const first = await send({ type: 'sync', unique: { key: 'reject', scope: 'project' } });
    const body = { type: 'b', unique: { key: 'reject', scope: 'project', onConflict: 'reject' } };
    const second = await send(body);
    expect(second.status).toBe(409);
    expect(second.json).toMatchObject({ code: 'unique_key_held', holderId: first.json.id });
    const bulk = await sendAll([{ type: 'never' }, body]);
    expect(bulk.status).toBe(409);
    const list = await api.client.listJobs({ params, query: { type: 'never' } });
    expect(list.data).toEqual([]);
  });

  it('may be one of a bulk request', async () => {
    const jobs = [
      { type: 'bulk', unique: { key: 'a' } },
      { type: 'bulk' },
      { type: 'bulk', unique: { key: 'a' } },
    ];
    const { data } = await api.client.enqueueJobs({ params, body: { jobs } });
    const [first, second, third] = data;
    expect(third).toEqual({
      ...{ id: first?.id, status: 'queued', deduplicated: true, conflict: 'kept', holderId: null },
    });
    expect(second?.id).not.toBe(first?.id);
    expect(second).toMatchObject({ status: 'queued', deduplicated: false, conflict: null });
  });

  it('is answered again with its idempotency key, also when it was a duplicate', async () => {
    const body = { type: 'sync', unique: { key: 'twice' } };
    await send(body);
    const headers = { 'idempotency-key': 'unique-twice' };
    const first = await api.inProject('POST', '/jobs', { body, headers });
    const second = await api.inProject('POST', '/jobs', { body, headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.json).toEqual(first.json);
  });

  it('cannot be replayed while another job has its key', async () => {
    const named = { scope: 'type', key: 'replayed', type: 'replayed', queue: 'default' } as const;
    const unique = { digest: uniqueDigest(named), until: 'done', ...named } as const;
    const dead = await api.factory.deadLetter({ type: 'replayed', unique });
    const other = await send({ type: 'replayed', unique: { key: 'replayed' } });
    const replay = await api.inProject('POST', `/jobs/${dead.id}/replay`, { body: {} });
    expect(replay.status).toBe(409);
    expect(replay.json).toMatchObject({ code: 'unique_key_held', holderId: other.json.id });
  });

  it('is found by its key', async () => {
    const { json } = await send({ type: 'sync', unique: { key: 'find "me"' } });
    const list = await api.client.listJobs({ params, query: { key: 'find "me"' } });
    expect(list.data).toMatchObject([{ id: json.id, unique: { key: 'find "me"' } }]);
    const other = await api.client.listJobs({ params, query: { key: 'find "me"', type: 'x' } });
    expect(other.data).toEqual([]);
  });

  it.each([
    [{ key: '' }, '/unique/key'],
    [{ key: 'x'.repeat(513) }, '/unique/key'],
    [{}, '/unique/key'],
    [{ key: 'a', scope: 'world' }, '/unique/scope'],
    [{ key: 'a', until: 'ttl' }, '/unique/ttl'],
    [{ key: 'a', ttl: '1m' }, '/unique/ttl'],
    [{ key: 'a', until: 'ttl', ttl: '0s' }, '/unique/ttl'],
    [{ key: 'a', onConflict: 'debounce' }, '/unique/wait'],
    [{ key: 'a', onConflict: 'debounce', wait: '2m', maxWait: '1m' }, '/unique/maxWait'],
    [{ key: 'a', onConflict: 'queue_latest', until: 'start' }, '/unique/until'],
    [{ key: 'a', wait: '1m' }, '/unique/wait'],
    [{ key: 'a', why: 1 }, '/unique/why'],
  ])('is refused by the name of what is wrong: %j', async (unique, pointer) => {
    const { status, json } = await send({ type: 'sync', unique });
    expect(status).toBe(422);
    expect(json.errors?.map((error) => error.pointer)).toContain(pointer);
  });

  it('cannot be debounced and delayed', async () => {
    const unique = { key: 'a', onConflict: 'debounce', wait: '1m' };
    expect((await send({ type: 'sync', unique, delay: '1m' })).status).toBe(422);
  });

  it('must not contradict another one of the same request', async () => {
    const jobs = ['keep', 'replace'].map((onConflict) => ({
      type: 'sync',
      unique: { key: 'contradiction', onConflict },
    }));
    expect((await sendAll(jobs)).status).toBe(422);
  });
});

describe('the limits of a job', () => {
  it('are kept as durations and as instants', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const one = await send({ type: 'limits', startDeadline: at, retryUntil: at, maxExceptions: 2 });
    expect(one.json).toMatchObject({ startDeadline: at, retryUntil: at, maxExceptions: 2 });
    const body = { type: 'limits', startDeadline: '10m', retryUntil: 'PT1H' };
    const made = await api.client.enqueueJob({ params, body });
    const since = (instant: string | null) =>
      Date.parse(instant ?? '') - Date.parse(made.createdAt);
    expect(since(made.retryUntil)).toBe(3_600_000);
    // The two instants are read one after the other, and anything may come in between.
    expect(Math.abs(since(made.startDeadline) - 600_000)).toBeLessThan(60_000);
    const [listed] = (await api.client.listJobs({ params, query: { type: 'limits' } })).data;
    expect(listed).toMatchObject({ startDeadline: made.startDeadline, retry: 'automatic' });
  });

  it('are nothing for a job that says nothing', async () => {
    const { json } = await send({ type: 'limits' });
    const none = { startDeadline: null, retryUntil: null, maxExceptions: null, unique: null };
    expect(json).toMatchObject(none);
  });

  it.each([
    [{ startDeadline: 'soon' }, '/startDeadline'],
    [{ startDeadline: '0s' }, '/startDeadline'],
    [{ startDeadline: '2999-01-01T00:00:00Z' }, '/startDeadline'],
    [{ retryUntil: 'tomorrow' }, '/retryUntil'],
    [{ maxExceptions: 0 }, '/maxExceptions'],
  ])('are refused when they are wrong: %j', async (limits, pointer) => {
    const { status, json } = await send({ type: 'limits', ...limits });
    expect(status).toBe(422);
    expect(json.errors?.[0]?.pointer).toBe(pointer);
  });
});
