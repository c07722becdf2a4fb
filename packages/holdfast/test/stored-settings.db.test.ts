import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { Holdfast } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

const work = defineJob({ type: 'work', run: (payload: unknown) => payload });

/** What nobody can mean, as somebody may write it in SQL. */
const nonsense = JSON.stringify({
  ...{ priority: 'first', maxAttempts: 'many', timeoutMs: '5m', tags: 'x', metadata: 7 },
  ...{ retry: { backoff: { kind: 'fixed', delayMs: '5s' } }, delayMs: 'soon' },
});

const execute = (text: string) => test.server.database.execute(text);

it('jobs of a queue with nonsense for defaults get those of the product', async () => {
  await holdfast.queues.upsert('odd', {});
  await execute(`update holdfast.queues set job_defaults = '${nonsense}' where name = 'odd'`);
  const { id } = await holdfast.enqueue(work, 1, { queue: 'odd' });
  const expected = { maxAttempts: 5, timeoutMs: 300_000, backoff: { kind: 'exponential' } };
  expect(await holdfast.get(id)).toMatchObject(expected);
  const names = (await holdfast.queues.list()).map(({ name }) => name);
  expect(names).toContain('odd');
  expect(await holdfast.queues.get('odd')).toMatchObject(expected);
});

it('a schedule with nonsense in its template fires, and holds up no other', async () => {
  for (const name of ['odd', 'typeless', 'sound']) {
    await holdfast.schedules.upsert({ name, every: '1h', job: work.with({ of: name }) });
  }
  await execute(`update holdfast.schedules set job = job || '${nonsense}' where name = 'odd'`);
  await execute(`update holdfast.schedules set job = '{"queue":7}' where name = 'typeless'`);
  await execute(
    `update holdfast.schedules set
       anchor_at = anchor_at - interval '1 hour', next_fire_at = next_fire_at - interval '1 hour'`,
  );
  await using worker = createWorker({ holdfast, jobs: [work], queues: ['default'] });
  const made = new Promise<void>((resolve) => {
    const ended = new Set<string>();
    holdfast.on('JobProcessed', ({ jobId }) => {
      if (ended.add(jobId).size === 2) resolve();
    });
  });
  await worker.start();
  await made;
  const { jobs } = await holdfast.list({ queue: 'default' });
  expect(jobs.map(({ type, status }) => [type, status]).sort()).toEqual([
    ['unknown', 'queued'],
    ['work', 'completed'],
    ['work', 'completed'],
  ]);
  const odd = jobs.find(({ scheduleId, type }) => scheduleId !== undefined && type === 'work');
  expect(odd).toMatchObject({ priority: 5, maxAttempts: 5, timeoutMs: 300_000, tags: [] });
  const shown = await holdfast.schedules.list();
  expect(shown.map(({ name, job }) => [name, job.type])).toEqual([
    ['odd', 'work'],
    ['sound', 'work'],
    ['typeless', 'unknown'],
  ]);
  expect(shown[0]?.job).toMatchObject({ maxAttempts: undefined, tags: undefined });
});

it('a job whose policy of retries is nonsense is tried again by the default one', async () => {
  const fails = defineJob({
    type: 'fails',
    queue: 'fails',
    run: () => Promise.reject(new Error('no')),
  });
  const { id } = await holdfast.enqueue(fails);
  const policy = '{"backoff":{"kind":"fixed","delayMs":"5s"},"maxExceptions":"one"}';
  await execute(`update holdfast.jobs set retry = '${policy}' where id = '${id}'`);
  await using worker = createWorker({ holdfast, jobs: [fails], queues: ['fails'] });
  const failed = new Promise<number | undefined>((resolve) => {
    holdfast.on('JobExceptionOccurred', ({ nextDelayMs }) => {
      resolve(nextDelayMs);
    });
  });
  await worker.start();
  const delayMs = await failed;
  expect(delayMs).toBeGreaterThanOrEqual(1_000);
  expect(delayMs).toBeLessThanOrEqual(5_000);
});

it('callbacks and listeners with nonsense in their templates are made all the same', async () => {
  const { id: subscriptionId } = await holdfast.subscribe('order.paid', work);
  await execute(`update holdfast.event_subscriptions set job = job || '${nonsense}'`);
  const { jobIds } = await holdfast.emit('order.paid', { n: 1 });
  expect(await holdfast.get(jobIds[0] ?? '')).toMatchObject({ type: 'work', maxAttempts: 5 });
  await holdfast.unsubscribe(subscriptionId);

  const batch = holdfast.batch([work.with(1)]).finally(work.with('over'));
  const { id } = await batch.enqueue();
  await execute(`update holdfast.batch_callbacks set job = job || '${nonsense}'`);
  await using worker = createWorker({ holdfast, jobs: [work], queues: ['default'] });
  await worker.start();
  const { status, callbacks } = await holdfast.batches.wait(id);
  expect(status).toBe('completed');
  expect(await holdfast.get(callbacks[0]?.jobId ?? '')).toMatchObject({ result: 'over' });
});
