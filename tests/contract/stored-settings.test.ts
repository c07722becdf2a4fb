import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/** What nobody can mean, as somebody may write it in SQL. */
const nonsense = JSON.stringify({
  ...{ priority: 'first', maxAttempts: 'many', timeoutMs: '5m', tags: 'x', metadata: 7 },
  payloadVersion: 'second',
  ...{ retry: { backoff: { kind: 'fixed', delayMs: '5s' }, retryUntil: 'tomorrow' } },
});
const defaultBackoff = { kind: 'exponential', base: '5s', factor: 2, max: '1h', jitter: 'full' };

it('a job is shown with the default where its policy of retries is nonsense', async () => {
  const { json } = await api.inProject('POST', '/jobs', { body: { type: 'odd.job' } });
  const { retry } = JSON.parse(nonsense) as { retry: unknown };
  await api.db.database.execute(
    `update holdfast.jobs set retry = '${JSON.stringify(retry)}' where id = '${json.id ?? ''}'`,
  );
  const expected = { backoff: defaultBackoff, retry: 'automatic', retryUntil: null };
  const read = await api.inProject('GET', `/jobs/${json.id ?? ''}`);
  expect(read.json).toMatchObject(expected);
  const list = await api.inProject('GET', '/jobs?type=odd.job');
  expect(list.json.data).toMatchObject([expected]);
});

it('a queue is shown with the defaults where its own are nonsense', async () => {
  await api.inProject('POST', '/queues', { body: { name: 'odd' } });
  await api.db.database.execute(
    `update holdfast.queues set job_defaults = '${nonsense}' where name = 'odd'`,
  );
  const { json } = await api.inProject('GET', '/queues');
  const queue = json.data?.find(({ name }) => name === 'odd');
  expect(queue).toMatchObject({ maxAttempts: 5, timeout: '5m', backoff: defaultBackoff });
});

it('schedules and subscriptions are shown without what is nonsense in their templates', async () => {
  const job = { type: 'odd.job', payload: { a: 1 } };
  const every = { name: 'odd', every: '1h', job };
  expect((await api.inProject('POST', '/schedules', { body: every })).status).toBe(201);
  const subscription = { event: 'order.paid', job: { type: 'odd.job' } };
  const made = await api.inProject('POST', '/event-subscriptions', { body: subscription });
  expect(made.status).toBe(201);
  for (const table of ['schedules', 'event_subscriptions']) {
    await api.db.database.execute(`update holdfast.${table} set job = job || '${nonsense}'`);
  }
  const place = { type: 'odd.job', queue: 'default', payloadVersion: 1 };
  const shown = { ...place, retry: 'automatic', backoff: defaultBackoff };
  const schedules = await api.inProject('GET', '/schedules');
  expect(schedules.json.data?.[0]?.['job']).toEqual({ ...shown, payload: { a: 1 } });
  const subscriptions = await api.inProject('GET', '/event-subscriptions');
  expect(subscriptions.json.data?.[0]?.['job']).toEqual(shown);
});
