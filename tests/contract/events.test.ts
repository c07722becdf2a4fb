import { createApiClient } from '@holdfast/contract';
import { dispatchEvents } from '@holdfast/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '@holdfast/testing';
import { startTestApi } from './support/test-api.ts';
import type { ServerSentEvent } from '@holdfast/contract';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({}, { eventHeartbeatMs: 100 });
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;
let count = 0;

/** The name of an event that no other test uses, with a subscription. */
async function subscribed(): Promise<string> {
  count += 1;
  const event = `test.event.${String(count)}`;
  await api.client.subscribeEvent({ params, body: { event } });
  return event;
}

async function emit(event: string, data: unknown = {}) {
  return api.client.emitEvent({ params, body: { event, data } });
}

async function emitAndDispatch(event: string, ...data: readonly unknown[]): Promise<void> {
  for (const each of data) await emit(event, each);
  await dispatchEvents(api.db.database);
}

describe('emitting an event', () => {
  it('enqueues the jobs of its listeners and answers their ids', async () => {
    const event = await subscribed();
    const job = { type: 'mail.welcome', queue: 'mail', priority: 3 };
    await api.client.subscribeEvent({ params, body: { event, job } });
    const emitted = await emit(event, { userId: 7 });
    expect(emitted.jobIds).toHaveLength(1);
    const [id = ''] = emitted.jobIds;
    expect(await api.client.getJob({ params: { ...params, id } })).toMatchObject({
      type: 'mail.welcome',
      queue: 'mail',
      priority: 3,
      payload: { event, id: emitted.id, data: { userId: 7 } },
    });
  });

  it('writes nothing where nobody subscribed', async () => {
    expect(await emit('nobody.listens')).toEqual({
      id: null,
      event: 'nobody.listens',
      jobIds: [],
    });
  });

  it('happens once for an idempotency key', async () => {
    const event = await subscribed();
    await api.client.subscribeEvent({ params, body: { event, job: { type: 'once' } } });
    const call = { params, body: { event }, idempotencyKey: event };
    const first = await api.client.emitEvent(call);
    const second = await api.client.send('emitEvent', call);
    expect(second).toMatchObject({ status: 201, replayed: true, body: first });
    await dispatchEvents(api.db.database);
    const { data } = await api.client.listEvents({ params, query: { event: [event] } });
    expect(data).toHaveLength(1);
  });

  it.each([
    [{ event: 'JobProcessed' }, 'event_reserved', '/event'],
    [{ event: 'no spaces' }, 'validation_failed', '/event'],
    [{ data: 1 }, 'validation_failed', '/event'],
    [{ event: 'a', more: 1 }, 'validation_failed', '/more'],
  ])('refuses %j', async (body, code, pointer) => {
    const sent = await api.inProject('POST', '/events', { body });
    expect(sent.status).toBe(422);
    expect(sent.json).toMatchObject({ code, errors: [{ pointer }] });
  });

  it('refuses data that no payload could hold', async () => {
    const body = { event: 'a', data: 'x'.repeat(300_000) };
    const sent = await api.inProject('POST', '/events', { body });
    expect(sent.status).toBe(413);
  });
});

describe('the list of events', () => {
  it('goes on where it ended, and keeps its place while there is nothing new', async () => {
    const event = await subscribed();
    await emitAndDispatch(event, 1, 2, 3);
    const query = { event: [event], limit: 2 };
    const first = await api.client.listEvents({ params, query });
    const second = await api.client.listEvents({
      params,
      query: { ...query, after: first.nextAfter },
    });
    const third = await api.client.listEvents({
      params,
      query: { ...query, after: second.nextAfter },
    });
    const data = [...first.data, ...second.data].map((each) => each.data);
    expect(data).toEqual([1, 2, 3]);
    expect(third).toEqual({ data: [], nextAfter: second.nextAfter });
    expect(first.data[0]).toEqual({
      position: expect.stringMatching(/^\d+$/) as unknown,
      id: expect.any(String) as unknown,
      event,
      jobId: null,
      data: 1,
      occurredAt: expect.stringMatching(/Z$/) as unknown,
    });
  });

  it('names the job that an event of Holdfast’s is about', async () => {
    await api.client.subscribeEvent({ params, body: { event: 'JobProcessed' } });
    const { id } = await api.factory.completed();
    await dispatchEvents(api.db.database);
    const { data } = await api.client.listEvents({ params, query: { event: ['JobProcessed'] } });
    expect(data).toMatchObject([{ event: 'JobProcessed', jobId: id, data: { attempt: 1 } }]);
  });

  it.each(['after=x', 'after=-1', 'limit=0', 'limit=201', 'type=a b', 'before=1'])(
    'refuses %s',
    async (query) => {
      const sent = await api.inProject('GET', `/events?${query}`);
      expect([sent.status, sent.json.code]).toEqual([422, 'validation_failed']);
    },
  );
});

describe('the stream of events', () => {
  /** Reads until `size` events have come. */
  async function take(stream: AsyncIterable<ServerSentEvent>, size: number) {
    const events: ServerSentEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (events.length === size) break;
    }
    return events;
  }
  const dataOf = (events: readonly ServerSentEvent[]) =>
    events.map(({ data }) => (JSON.parse(data) as { readonly data: unknown }).data);

  it('tells what happens from now on', async () => {
    const event = await subscribed();
    await emitAndDispatch(event, 'before');
    const stream = await api.client.streamEvents({ params, query: { event: [event] } });
    const taken = take(stream, 2);
    await emitAndDispatch(event, 'one', 'two');
    const events = await taken;
    expect(dataOf(events)).toEqual(['one', 'two']);
    expect(events[0]).toMatchObject({ event, id: expect.stringMatching(/^\d+$/) as unknown });
  });

  it('goes on behind the last event that was read', async () => {
    const event = await subscribed();
    const query = { event: [event], after: '0' };
    await emitAndDispatch(event, 1, 2, 3);
    const [first] = await take(await api.client.streamEvents({ params, query }), 1);
    const lastEventId = first?.id ?? '';
    const rest = await api.client.streamEvents({ params, query, lastEventId });
    expect(dataOf(await take(rest, 2))).toEqual([2, 3]);
  });

  async function openRaw(token: string, headers: Readonly<Record<string, string>> = {}) {
    return fetch(`${api.url}/api/v1/projects/default/events/stream`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  }

  /** Reads text until it holds what is wanted, or the stream is over. */
  async function readText(response: Response, wanted?: string): Promise<string> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (wanted !== undefined && text.includes(wanted)) break;
    }
    return text;
  }

  it('is nothing that a proxy may keep or pack, and has heartbeats', async () => {
    const response = await openRaw(api.ownerToken);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(await readText(response, ': heartbeat')).toContain('retry: ');
  });

  it('ends when its key is revoked', async () => {
    const made = await api.client.createApiKey({ params, body: { name: 's', scopes: ['read'] } });
    const response = await openRaw(made.key);
    await api.client.revokeApiKey({ params: { ...params, id: made.id } });
    expect(await readText(response)).toContain('retry: ');
  });

  it('refuses a Last-Event-ID that it never gave', async () => {
    const response = await openRaw(api.ownerToken, { 'last-event-id': 'x' });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ pointer: 'Last-Event-ID' }] });
  });

  it('ends when the process stops, which does not wait for its reader', async () => {
    // No heartbeat wakes the stream while this test waits.
    const other = await startTestApi({}, { eventHeartbeatMs: 3_600_000 });
    const client = createApiClient({
      baseUrl: other.url,
      getAccessToken: () => other.ownerToken,
    });
    const taken = take(await client.streamEvents({ params }), 1);
    await other.stop();
    expect(await taken).toEqual([]);
  });

  it('leaves nothing behind when its reader leaves', async () => {
    const event = await subscribed();
    const stream = await api.client.streamEvents({ params, query: { event: [event] } });
    await emitAndDispatch(event, 1);
    await take(stream, 1);
    const idle = {
      name: 'test_backends',
      text: `select from pg_stat_activity where datname = current_database() and state <> 'idle'`,
    };
    await waitFor('only this question is asked of the server', async () => {
      return (await api.db.database.query(idle)).length === 1;
    });
  });
});

describe('subscriptions', () => {
  it('are made once for an event and a job type', async () => {
    const event = await subscribed();
    const job = { type: 'listener', delay: '5m', backoff: { kind: 'fixed', delay: '1m' } } as const;
    const first = await api.client.subscribeEvent({ params, body: { event, job } });
    const second = await api.client.subscribeEvent({
      params,
      body: { event, job: { ...job, timeout: '1m', retryUntil: '24h', maxExceptions: 2 } },
    });
    expect(second.id).toBe(first.id);
    expect(second.job).toEqual({
      type: 'listener',
      queue: 'default',
      payloadVersion: 1,
      delay: '5m',
      timeout: '1m',
      retry: 'automatic',
      retryUntil: '1d',
      maxExceptions: 2,
      backoff: { kind: 'fixed', delay: '1m' },
    });
    const { data } = await api.client.listEventSubscriptions({ params, query: { limit: 200 } });
    expect(data.filter((each) => each.event === event).map(({ job: found }) => found)).toEqual([
      null,
      second.job,
    ]);
  });

  it('are listed page by page', async () => {
    await subscribed();
    await subscribed();
    const query = { limit: 1 };
    const first = await api.client.listEventSubscriptions({ params, query });
    const cursor = first.nextCursor ?? '';
    const second = await api.client.listEventSubscriptions({ params, query: { ...query, cursor } });
    expect(first.data[0]?.id).not.toBe(second.data[0]?.id);
  });

  it('end', async () => {
    const event = await subscribed();
    const job = { type: 'gone' };
    const { id } = await api.client.subscribeEvent({ params, body: { event, job } });
    await api.client.unsubscribeEvent({ params: { ...params, id } });
    const again = await api.inProject('DELETE', `/event-subscriptions/${id}`);
    expect([again.status, again.json.code]).toEqual([404, 'event_subscription_not_found']);
    expect((await emit(event)).jobIds).toEqual([]);
  });

  it.each([
    [{ event: 'a', job: { type: 'x', payload: {} } }, '/job/payload'],
    [{ event: 'a', job: {} }, '/job/type'],
    [{ event: '' }, '/event'],
    [{ event: 'a', filter: {} }, '/filter'],
  ])('refuse %j', async (body, pointer) => {
    const sent = await api.inProject('POST', '/event-subscriptions', { body });
    expect(sent.status).toBe(422);
    expect(sent.json).toMatchObject({ code: 'validation_failed', errors: [{ pointer }] });
  });
});
