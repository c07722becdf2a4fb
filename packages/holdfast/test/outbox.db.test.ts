import { waitFor } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { openHoldfast } from './support/open-holdfast.ts';
import { readRows } from './support/stored-rows.ts';
import type { EventPayload, JobContext, JobDefinition } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let client: pg.Client;

beforeAll(async () => {
  test = await openHoldfast();
  client = new pg.Client(test.server.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await test.close();
});

const welcome = defineJob({
  type: 'mail.welcome',
  queue: 'mail',
  maxAttempts: 2,
  payload: z.object({ id: z.string(), data: z.object({ userId: z.number() }) }),
  run: ({ data }) => data.userId,
});

async function withWorker(job: JobDefinition, use: () => Promise<void>): Promise<void> {
  const { holdfast } = test;
  await using worker = createWorker({ holdfast, jobs: [job], queues: [job.type] });
  await worker.start();
  await use();
}

describe('an event that is emitted', () => {
  it('makes a job for each listener, by definition or by type', async () => {
    const { holdfast } = test;
    const options = { priority: 1, delay: '1h', retryUntil: '1d', maxExceptions: 2 } as const;
    const subscription = await holdfast.subscribe('user.registered', welcome, options);
    expect(subscription).toMatchObject({
      event: 'user.registered',
      job: {
        ...{ type: 'mail.welcome', queue: 'mail', priority: 1, maxAttempts: 2, delayMs: 3_600_000 },
        ...{ retry: 'automatic', retryUntil: 86_400_000, maxExceptions: 2, timeoutMs: undefined },
      },
    });
    await holdfast.subscribe('user.registered', 'crm.add', { queue: 'crm' });
    const { id, jobIds } = await holdfast.emit('user.registered', { userId: 7 });
    const jobs = await Promise.all(jobIds.map((jobId) => holdfast.get(jobId)));
    expect(jobs).toMatchObject([
      { type: 'mail.welcome', queue: 'mail', priority: 1, maxAttempts: 2, status: 'scheduled' },
      { type: 'crm.add', queue: 'crm', priority: 5, maxAttempts: 5, status: 'queued' },
    ]);
    expect(jobs.map(({ payload }) => payload)).toEqual(
      jobs.map(() => ({
        event: 'user.registered',
        id,
        data: { userId: 7 },
        occurredAt: expect.any(String) as unknown,
      })),
    );
  });

  it('leaves nothing where nobody subscribed', async () => {
    expect(await test.holdfast.emit('nobody.listens', { a: 1 })).toEqual({
      id: undefined,
      jobIds: [],
    });
  });

  it('is there with its jobs when the caller’s transaction commits, and else is not', async () => {
    const { holdfast, server } = test;
    await holdfast.subscribe('order.paid', 'order.ship');
    const emitWithin = async (end: 'commit' | 'rollback') => {
      await client.query('begin');
      const emitted = await holdfast.emit('order.paid', { orderId: 1 }, { tx: client });
      expect(await readRows(server.url, emitted.jobIds)).toEqual([]);
      await client.query(end);
      return readRows(server.url, emitted.jobIds);
    };
    expect(await emitWithin('rollback')).toEqual([]);
    expect(await emitWithin('commit')).toMatchObject([
      { type: 'order.ship', status: 'queued', payload: { data: { orderId: 1 } } },
    ]);
    const rows = await server.database.query({
      name: 'test_paid',
      text: `select from holdfast.events where event = 'order.paid'`,
    });
    expect(rows).toHaveLength(1);
  });

  it('can come from a handler, in the transaction that completes the job', async () => {
    const { holdfast } = test;
    await holdfast.subscribe('import.done', 'import.report');
    const job = defineJob({
      type: 'import',
      queue: 'import',
      run: (_: object, ctx: JobContext) =>
        ctx.transaction((tx) => ctx.emit('import.done', { rows: 3 }, { tx })),
    });
    const { id } = await holdfast.enqueue(job, {});
    await withWorker(job, async () => {
      const done = await holdfast.wait(id);
      const jobIds = done.result?.jobIds ?? [];
      const types = jobIds.map(async (jobId) => (await holdfast.get(jobId)).type);
      expect(await Promise.all(types)).toEqual(['import.report']);
    });
  });

  it.each<[event: string, options: object, message: string]>([
    ['no spaces', {}, 'must be 1 to 128 of the characters'],
    ['a', { bad: true }, 'bad'],
  ])('is refused when it is %s with %j', async (event, options, message) => {
    await expect(test.holdfast.emit(event, {}, options)).rejects.toMatchObject({
      code: 'options_invalid',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('is refused when it has the name of one of Holdfast’s own', async () => {
    const emitting = test.holdfast.emit<string>('JobProcessed', {});
    await expect(emitting).rejects.toMatchObject({ code: 'event_reserved' });
  });

  it('is refused when its data is no JSON', async () => {
    const emitting = test.holdfast.emit('a', { when: Number.NaN });
    await expect(emitting).rejects.toMatchObject({ code: 'payload_invalid' });
  });
});

describe('an event of Holdfast’s own', () => {
  it('makes the jobs of its listeners, which announce nothing themselves', async () => {
    const { holdfast } = test;
    const heard: EventPayload<'JobProcessed'>[] = [];
    const listener = defineJob({
      type: 'on.processed',
      queue: 'work',
      run: (event: EventPayload<'JobProcessed'>) => {
        heard.push(event);
      },
    });
    const { id: subscription } = await holdfast.subscribe('JobProcessed', listener);
    const work = defineJob({ type: 'work', queue: 'work', run: () => undefined });
    await using worker = createWorker({ holdfast, jobs: [work, listener], queues: ['work'] });
    await worker.start();
    const { id } = await holdfast.enqueue(work);
    await waitFor('the listener hears of it', () => heard.length > 0);
    expect(heard).toMatchObject([
      { event: 'JobProcessed', jobId: id, data: { type: 'work', queue: 'work', attempt: 1 } },
    ]);
    const { id: second } = await holdfast.enqueue(work);
    await waitFor('the listener hears of the next one', () => heard.length > 1);
    expect(heard.map(({ jobId }) => jobId)).toEqual([id, second]);
    expect(await holdfast.unsubscribe(subscription)).toBe(true);
    expect(await holdfast.unsubscribe(subscription)).toBe(false);
  });

  it('can be read in order, from where one was', async () => {
    const { holdfast } = test;
    await holdfast.subscribe('QueuePaused');
    await holdfast.subscribe('QueueResumed');
    await using worker = createWorker({ holdfast, jobs: [welcome], queues: ['nothing'] });
    await worker.start();
    await holdfast.queues.upsert('paused');
    await holdfast.queues.pause('paused', { reason: 'deploy' });
    await holdfast.queues.resume('paused');
    const events = ['QueuePaused', 'QueueResumed'];
    await waitFor('both can be read', async () => {
      return (await holdfast.readEvents({ events })).events.length === 2;
    });
    const first = await holdfast.readEvents({ events, limit: 1 });
    const second = await holdfast.readEvents({ events, limit: 1, after: first.nextAfter });
    expect(first.events).toMatchObject([{ data: { queue: 'paused', reason: 'deploy' } }]);
    expect(second.events).toMatchObject([{ event: 'QueueResumed' }]);
  });

  it('says how the members of a batch have ended, as the batch itself does', async () => {
    const { holdfast } = test;
    await holdfast.subscribe('BatchFinished');
    const member = defineJob({
      type: 'member',
      queue: 'member',
      maxAttempts: 1,
      run: ({ fails }: { fails: boolean }) => {
        if (fails) throw new Error('as asked');
      },
    });
    await withWorker(member, async () => {
      const members = [member.with({ fails: false }), member.with({ fails: true })];
      const { id } = await holdfast.batch(members, { name: 'two' }).enqueue();
      const counts = { total: 2, pending: 0, completed: 1, deadLetter: 1, cancelled: 0 };
      expect((await holdfast.batches.wait(id)).counts).toEqual(counts);
      const read = () => holdfast.readEvents({ events: ['BatchFinished'] });
      await waitFor('the end of the batch can be read', async () => {
        return (await read()).events.length > 0;
      });
      expect((await read()).events).toMatchObject([
        { data: { batchId: id, kind: 'batch', name: 'two', status: 'dead_letter', counts } },
      ]);
    });
  });
});

describe('a subscription', () => {
  it.each<[event: string, job: string | undefined, options: object, message: string]>([
    ['a', 'no spaces', {}, 'the type must be'],
    ['a', 'x', { runAt: new Date() }, 'runAt'],
    ['a', 'x', { priority: 10 }, 'priority'],
    ['a', undefined, { priority: 1 }, 'priority'],
    ['', 'x', {}, 'the name of an event'],
  ])('to "%s" with a job %s and %j is refused', async (event, job, options, message) => {
    const subscribing = test.holdfast.subscribe(event, job, options);
    await expect(subscribing).rejects.toMatchObject({
      code: 'options_invalid',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('takes only jobs whose payload the event is', () => {
    const { holdfast } = test;
    const wrong = defineJob({ type: 'wrong', run: ({ data }: { data: { rows: number } }) => data });
    const right = defineJob({
      type: 'right',
      run: ({ data }: EventPayload<'JobFailed'>) => {
        expectTypeOf(data.error?.code).toEqualTypeOf<string | undefined>();
      },
    });
    const compiled = () => [
      holdfast.subscribe('JobFailed', right),
      // @ts-expect-error -- the data of a job's event has no rows
      holdfast.subscribe('JobFailed', wrong),
      holdfast.subscribe('rows.read', wrong),
    ];
    expect(compiled).toBeTypeOf('function');
  });
});
