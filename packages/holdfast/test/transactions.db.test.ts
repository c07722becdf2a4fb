import { TransactionInvalidError, createWorker, defineJob } from 'holdfast';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { countJobs, query, readRows } from './support/stored-rows.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let client: pg.Client;

beforeAll(async () => {
  test = await openHoldfast();
  client = new pg.Client(test.server.url);
  await client.connect();
  await client.query('create table orders (id integer primary key)');
});
afterAll(async () => {
  await client.end();
  await test.close();
});

const ship = defineJob({
  type: 'order.ship',
  queue: 'orders',
  run: ({ orderId }: { orderId: number }) => orderId,
});

async function within<Result>(end: 'commit' | 'rollback', work: () => Promise<Result>) {
  await client.query('begin');
  const result = await work();
  await client.query(end);
  return result;
}

describe('a job that is enqueued in the caller’s transaction', () => {
  it('is there when it commits, and not before', async () => {
    const { id } = await within('commit', async () => {
      await client.query('insert into orders values (1)');
      const result = await test.holdfast.enqueue(ship, { orderId: 1 }, { tx: client });
      expect(await readRows(test.server.url, [result.id])).toEqual([]);
      return result;
    });
    expect(await readRows(test.server.url, [id])).toMatchObject([
      { status: 'queued', payload: { orderId: 1 }, queue_name: 'orders' },
    ]);
  });

  it('leaves nothing when it rolls back', async () => {
    const before = await countJobs(test.server.url);
    await within('rollback', async () => {
      await test.holdfast.enqueue(ship, { orderId: 2 }, { tx: client, delay: '5m' });
      await test.holdfast.enqueueMany(ship, [{ orderId: 3 }, { orderId: 4 }], { tx: client });
    });
    expect(await countJobs(test.server.url)).toBe(before);
  });

  it('takes every option along', async () => {
    const metadata = { text: `it's "quoted", {braced} \\ and ü` };
    const options = { delay: '5m', tags: ['a', 'b,c'], metadata, startDeadline: '1h' } as const;
    const outside = await test.holdfast.enqueue(ship, { orderId: 5 }, options);
    const inside = await within('commit', () =>
      test.holdfast.enqueue(ship, { orderId: 5 }, { ...options, tx: client }),
    );
    const [first, second] = await readRows(test.server.url, [outside.id, inside.id]);
    const settings = ['type', 'payload', 'tags', 'metadata', 'status', 'retry', 'queue_name'];
    for (const name of settings) expect(second?.[name]).toEqual(first?.[name]);
    // The insert reads its clock twice, and anything may come in between.
    expect(second?.['delay_ms']).toBeGreaterThan(240_000);
    expect(second?.['delay_ms']).toBeLessThan(360_000);
  });

  it('with an id that is there does not abort it', async () => {
    const { id } = await test.holdfast.enqueue(ship, { orderId: 6 });
    const again = await within('commit', async () => {
      const result = await test.holdfast.enqueue(ship, { orderId: 7 }, { tx: client, id });
      await client.query('insert into orders values (7)');
      return result;
    });
    expect(again).toEqual({ id, status: 'queued', deduplicated: true });
  });

  it('goes to a queue that the transaction itself has made, by SQL', async () => {
    const { holdfast, server } = test;
    const ends = { rollback: [], commit: [{ count: 6 }] } as const;
    for (const end of ['rollback', 'commit'] as const) {
      await within(end, async () => {
        await client.query(`select holdfast.enqueue('default', 'made-by-sql', 'order.ship')`);
        const job = ship.with({ orderId: 1 }, { queue: 'made-by-sql' });
        const options = { tx: client, queue: 'made-by-sql' } as const;
        await holdfast.enqueue(ship, { orderId: 1 }, options);
        await holdfast.enqueue(ship, { orderId: 1 }, { ...options, unique: { key: 'sql' } });
        await holdfast.enqueueMany(ship, [{ orderId: 1 }], options);
        const { id } = await holdfast.batch([job]).enqueue({ tx: client });
        await holdfast.batches.add(id, job, { tx: client });
      });
      const text = `
        select count(*)::integer from holdfast.jobs as j
        join holdfast.queues as q on q.id = j.queue_id where q.name = $1 group by q.id`;
      expect(await query(server.url, text, ['made-by-sql'])).toEqual(ends[end]);
    }
  });

  it('is found by a worker that nobody woke', async () => {
    await using worker = createWorker({ holdfast: test.holdfast, jobs: [ship] });
    await worker.start();
    const { id } = await within('commit', () =>
      test.holdfast.enqueue(ship, { orderId: 8 }, { tx: client }),
    );
    expect(await test.holdfast.wait(id, { timeout: '45s' })).toMatchObject({ result: 8 });
  });
});

describe('what is no transaction', () => {
  it('is refused: a pool', async () => {
    const pool = new pg.Pool({ connectionString: test.server.url });
    // @ts-expect-error a pool has no type of a client
    const call = test.holdfast.enqueue(ship, { orderId: 9 }, { tx: pool });
    await expect(call).rejects.toThrow(TransactionInvalidError);
    await expect(call).rejects.toThrow(/pool/);
    await pool.end();
  });

  it.each([
    ['a text', 'tx'],
    ['null', null],
    ['an object of another library', { execute: () => undefined }],
  ])('is refused: %s', async (_name, tx) => {
    const before = await countJobs(test.server.url);
    // @ts-expect-error as a caller in plain JavaScript
    const call = test.holdfast.enqueue(ship, { orderId: 9 }, { tx });
    await expect(call).rejects.toMatchObject({ code: 'transaction_invalid' });
    expect(await countJobs(test.server.url)).toBe(before);
  });
});

describe('a handler’s transaction', () => {
  it('writes and completes the job in one commit', async () => {
    const book = defineJob<{ n: number }>({ type: 'order.book' });
    await using worker = createWorker({ holdfast: test.holdfast });
    worker.handle(book, (payload, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.query('insert into orders values ($1)', [100]);
        const next = await ctx.enqueue(ship, { orderId: 100 }, { tx });
        return { payload, next: next.id };
      }),
    );
    await worker.start();
    const { id } = await test.holdfast.enqueue(book, { n: 1 });
    const job = await test.holdfast.wait(id, { timeout: '45s' });
    expect(job).toMatchObject({ status: 'completed', result: { payload: { n: 1 } } });
    expect(await query(test.server.url, 'select id from orders where id = 100', [])).toHaveLength(
      1,
    );
    const { next } = job.result as { next: string };
    expect(await test.holdfast.get(next)).toMatchObject({ type: 'order.ship' });
  });
});
