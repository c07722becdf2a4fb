import { once } from 'node:events';
import { createWorker, defineJob } from 'holdfast';
import type { JobContext } from 'holdfast';
import { DrainError, createTestHoldfast } from 'holdfast/testing';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TestHoldfast } from 'holdfast/testing';

const seen: string[] = [];

beforeEach(() => {
  seen.length = 0;
});

/** A job that notes its name. */
function noting(type: string, more: Partial<Parameters<typeof defineJob>[0]> = {}) {
  return defineJob({
    maxAttempts: 3,
    ...more,
    type,
    payload: undefined,
    run: (payload: { readonly name?: string }) => {
      seen.push(`${type} ${payload.name ?? ''}`.trim());
    },
  });
}

describe('a drain', () => {
  const plain = noting('plain');
  const other = noting('other');
  let test: TestHoldfast;

  beforeAll(async () => {
    test = await createTestHoldfast({ jobs: [plain] });
  });
  afterAll(() => test.close());

  it('works the due jobs of its types in the order of the line, and says what ran', async () => {
    const { holdfast } = test;
    const { id } = await holdfast.enqueue(plain, { name: 'second' });
    await holdfast.enqueue(other, { name: 'not mine' });
    await holdfast.enqueue(plain, { name: 'first' }, { priority: 0 });
    await holdfast.enqueue(plain, { name: 'later' }, { delay: '1h' });
    const { ran } = await test.drain();
    expect(seen).toEqual(['plain first', 'plain second']);
    expect(ran).toMatchObject([
      { type: 'plain', attempt: 1, outcome: 'completed', status: 'completed' },
      { id, queue: 'default', outcome: 'completed', status: 'completed' },
    ]);
    expect((await test.drain()).ran).toEqual([]);
    expect((await test.drain({ jobs: [other] })).ran).toHaveLength(1);
  });

  it('works the versions of payloads that its definitions take, and leaves the others', async () => {
    const { holdfast } = test;
    const versioned = defineJob({
      ...{ type: 'versioned', version: 2, upgrades: { 1: (old) => [old] } },
      run: (payload: unknown) => void seen.push(JSON.stringify(payload)),
    });
    await holdfast.enqueue('versioned', 'old');
    await holdfast.enqueue(versioned, ['new']);
    const { id } = await holdfast.enqueue('versioned', {}, { payloadVersion: 3 });
    await test.drain({ jobs: [versioned] });
    expect(seen).toEqual(['["old"]', '["new"]']);
    const jobs = await test.enqueued(versioned);
    expect(jobs.map(({ payloadVersion }) => payloadVersion)).toEqual([1, 2, 3]);
    expect(jobs.find((job) => job.id === id)?.status).toBe('queued');
  });

  it('goes on with what jobs enqueue, with children, callbacks and listeners', async () => {
    const { holdfast } = test;
    const child = noting('child');
    const listener = noting('listener');
    const parent = defineJob({
      type: 'parent',
      run: async (_: unknown, ctx: JobContext) => {
        seen.push('parent');
        await ctx.enqueue(child, { name: 'of parent' });
        await ctx.emit('order.paid', { order: 7 });
      },
    });
    await holdfast.subscribe('order.paid', listener.type);
    await holdfast.subscribe('JobProcessed', 'after');
    const after = noting('after');
    await holdfast
      .batch([holdfast.chain([parent.with({}), child.with({ name: 'in chain' })])])
      .then(child.with({ name: 'then' }))
      .enqueue();
    const { ran } = await test.drain({ jobs: [parent, child, listener, after] });
    expect(ran.map(({ type }) => type)).toEqual(expect.arrayContaining(['after', 'listener']));
    expect(seen).toEqual(
      expect.arrayContaining(['parent', 'child of parent', 'listener', 'child in chain']),
    );
    expect(seen.indexOf('child then')).toBeGreaterThan(seen.indexOf('child in chain'));
    expect(seen.filter((name) => name === 'after')).toHaveLength(4);
  });

  it('throws what handlers threw, or tells of it', async () => {
    const boom = new TypeError('boom');
    const failing = defineJob({
      type: 'failing',
      maxAttempts: 2,
      backoff: '10m',
      run: () => {
        throw boom;
      },
    });
    await test.holdfast.enqueue(failing);
    const error: unknown = await test.drain({ jobs: [failing] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DrainError);
    expect(error).toMatchObject({
      code: 'drain_failed',
      message: '1 of 1 attempts failed: "failing", attempt 1: boom',
      cause: boom,
      result: { ran: [{ outcome: 'failed', status: 'scheduled', error: boom }] },
    });
    await test.advance('10m');
    expect(await test.drain({ jobs: [failing], errors: 'report' })).toMatchObject({
      ran: [{ attempt: 2, outcome: 'failed', status: 'dead_letter', error: boom }],
    });
  });

  it('works what completes in a transaction, is released or is cancelled', async () => {
    const job = defineJob({
      type: 'in.a.transaction',
      run: async (payload: { readonly way: string }, ctx: JobContext) => {
        if (payload.way === 'release') return ctx.release('1h', 'busy');
        if (payload.way === 'cancel') {
          const aborted = once(ctx.signal, 'abort');
          await test.holdfast.cancel(ctx.job.id);
          await aborted;
          ctx.signal.throwIfAborted();
        }
        return ctx.transaction(async (tx) => {
          await ctx.enqueue(plain, { name: 'from inside' }, { tx });
          return 'done';
        });
      },
    });
    for (const way of ['transaction', 'release', 'cancel']) {
      await test.holdfast.enqueue(job, { way });
    }
    const { ran } = await test.drain({ jobs: [job, plain] });
    expect(ran.map(({ type, outcome, status }) => `${type} ${outcome} ${status}`).sort()).toEqual([
      'in.a.transaction cancelled cancelled',
      'in.a.transaction completed completed',
      'in.a.transaction released scheduled',
      'plain completed completed',
    ]);
    expect(seen).toEqual(['plain from inside']);
  });

  it('gives up after its timeout, and aborts what runs', async () => {
    const stuck = defineJob({
      type: 'stuck',
      run: (_: unknown, { signal }: JobContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
        }),
    });
    await test.holdfast.enqueue(stuck);
    await expect(test.drain({ jobs: [stuck], timeout: 300 })).rejects.toMatchObject({
      code: 'drain_timed_out',
    });
  });

  it('takes handlers that live apart, and does not wait for paused queues', async () => {
    await using own = await createTestHoldfast({
      prepareWorker: (worker) => worker.handle('by.name', () => void seen.push('by name')),
    });
    await own.holdfast.queues.upsert('paused');
    await own.holdfast.queues.pause('paused');
    await own.holdfast.enqueue('by.name', {}, { queue: 'paused' });
    expect((await own.drain()).ran).toEqual([]);
    await own.holdfast.queues.resume('paused');
    expect((await own.drain()).ran).toMatchObject([{ type: 'by.name' }]);
    expect(seen).toEqual(['by name']);
  });
});

describe('an advance', () => {
  const job = noting('timed');
  let test: TestHoldfast;

  beforeEach(async () => {
    test = await createTestHoldfast({ jobs: [job] });
  });

  async function ranAfter(duration: string): Promise<number> {
    await test.advance(duration);
    return (await test.drain({ errors: 'report' })).ran.length;
  }

  it('makes delayed jobs due, not before their time', async () => {
    await test.holdfast.enqueue(job, {}, { delay: '2h' });
    await test.holdfast.enqueue(job, {}, { runAt: new Date(Date.now() + 3 * 3_600_000) });
    expect(await ranAfter('119m')).toBe(0);
    expect(await ranAfter('1m')).toBe(1);
    expect(await ranAfter('1h')).toBe(1);
    await test.close();
  });

  it('makes retries due, and ends them at their deadline', async () => {
    const failing = defineJob({
      type: 'failing',
      maxAttempts: 9,
      backoff: '1h',
      retryUntil: new Date(Date.now() + 90 * 60_000),
      run: () => {
        throw new Error('again');
      },
    });
    const { id } = await test.holdfast.enqueue(failing);
    const drain = () => test.drain({ jobs: [failing], errors: 'report' });
    expect(await drain()).toMatchObject({ ran: [{ status: 'scheduled' }] });
    expect((await drain()).ran).toEqual([]);
    await test.advance('1h');
    expect(await drain()).toMatchObject({ ran: [{ attempt: 2, status: 'dead_letter' }] });
    expect(await test.holdfast.get(id)).toMatchObject({ status: 'dead_letter' });
    await test.close();
  });

  it('passes start deadlines and the time of unique keys', async () => {
    const { holdfast } = test;
    const { id } = await holdfast.enqueue(job, {}, { startDeadline: '30m' });
    const unique = { key: 'k', until: 'ttl', ttl: '1h' } as const;
    await holdfast.enqueue(job, {}, { unique });
    expect(await holdfast.enqueue(job, {}, { unique })).toMatchObject({ deduplicated: true });
    expect(await ranAfter('61m')).toBe(1);
    expect(await holdfast.get(id)).toMatchObject({ status: 'cancelled' });
    expect(await holdfast.enqueue(job, {}, { unique })).toMatchObject({ deduplicated: false });
    await test.close();
  });

  it('fires schedules at each of their instants, by the calendar', async () => {
    const { holdfast } = test;
    // No instant of either comes by itself while this test runs.
    const inHalfAnHour = new Date(Date.now() + 30 * 60_000);
    const [hour, minute] = [inHalfAnHour.getUTCHours(), inHalfAnHour.getUTCMinutes()].map(String);
    const [hourly, daily] = [`${minute} * * * *`, `${minute} ${hour} * * *`];
    await holdfast.schedules.upsert({
      ...{ name: 'hourly', cron: hourly, job: job.with({ name: 'hourly' }), overlap: 'allow' },
    });
    await holdfast.schedules.upsert({ name: 'once', cron: daily, job: job.with({}) });
    expect((await test.drain()).ran).toEqual([]);
    await test.advance('1d');
    expect((await test.drain()).ran).toHaveLength(25);
    expect(seen.filter((name) => name.endsWith('hourly'))).toHaveLength(24);
    await holdfast.schedules.delete('hourly');
    // Counted from where the test's time is, not from the server's.
    await holdfast.schedules.upsert({ name: 'new', every: '6h', job: job.with({ name: 'new' }) });
    expect((await test.drain()).ran).toEqual([]);
    await test.advance('1d');
    expect(seen.filter((name) => name.endsWith('new'))).toEqual([]);
    await test.drain();
    // A schedule leaves out what comes due while its job waits.
    expect(seen.filter((name) => name.endsWith('new'))).toHaveLength(1);
    await test.close();
  });

  it('ends the leases of workers that are gone, and pauses', async () => {
    const { holdfast } = test;
    await holdfast.enqueue(job, { name: 'orphan' });
    const client = new pg.Client(test.connectionString);
    await client.connect();
    await client.query(
      `update holdfast.jobs set status = 'claimed', worker_id = gen_random_uuid(), claimed_at = clock_timestamp(),
        lease_token = gen_random_uuid(), lock_expires_at = clock_timestamp() + interval '30 s',
        attempt = 1, execution_seq = 1`,
    );
    await client.end();
    expect((await test.drain()).ran).toEqual([]);
    expect(await ranAfter('31s')).toBe(1);
    await holdfast.queues.pause('default', { until: new Date(Date.now() + 60_000) });
    await holdfast.enqueue(job, {});
    expect((await test.drain()).ran).toEqual([]);
    expect(await ranAfter('1m')).toBe(1);
    await test.close();
  });

  it('is heard of by a worker that runs', async () => {
    const { holdfast } = test;
    await using worker = createWorker({ holdfast, jobs: [job] });
    await worker.start();
    const { id } = await holdfast.enqueue(job, {}, { delay: '2h' });
    await test.advance('2h');
    expect(await holdfast.wait(id, { timeout: '45s' })).toMatchObject({ status: 'completed' });
    await worker.stop();
    await test.close();
  });
});

describe('a test database', () => {
  it('is gone after the test, and so is a schema', async () => {
    const database = await createTestHoldfast();
    const schema = await createTestHoldfast({
      ...{ isolation: 'schema', connectionString: database.connectionString },
      jobs: [noting('in.a.schema')],
    });
    expect(schema.connectionString).toBe(database.connectionString);
    expect(schema.schema).toMatch(/^holdfast_test_/);
    await schema.holdfast.enqueue('in.a.schema', {});
    await schema.advance('1h');
    expect((await schema.drain()).ran).toHaveLength(1);
    expect(await database.enqueued()).toEqual([]);
    const client = new pg.Client(database.connectionString);
    await client.connect();
    await schema.close();
    const { rows } = await client.query('select from pg_namespace where nspname = $1', [
      schema.schema,
    ]);
    expect(rows).toEqual([]);
    await client.end();
    await database.close();
    await database.close();
    const gone = new pg.Client(database.connectionString);
    await expect(gone.connect()).rejects.toMatchObject({ code: '3D000' });
  });

  it('says what to do when the account may create none', async () => {
    await using owner = await createTestHoldfast();
    const name = `no_createdb_${owner.connectionString.slice(-12)}`;
    const client = new pg.Client(owner.connectionString);
    await client.connect();
    await client.query(`create role ${name} login password 'secret'`);
    const url = new URL(owner.connectionString);
    url.username = name;
    url.password = 'secret';
    await expect(createTestHoldfast({ connectionString: url.href })).rejects.toMatchObject({
      code: 'test_database_refused',
    });
    await client.query(`drop role ${name}`);
    await client.end();
  });

  it('may have its tables in a schema of another name', async () => {
    const job = noting('elsewhere');
    await using test = await createTestHoldfast({ schema: 'jobs_of_mine', jobs: [job] });
    await test.holdfast.enqueue(job, {});
    expect((await test.drain()).ran).toHaveLength(1);
  });
});

describe('an expectation', () => {
  const mail = defineJob({
    type: 'mail.send',
    queue: 'mail',
    payload: z.object({ to: z.string(), at: z.date().optional(), parts: z.array(z.string()) }),
  });

  it('finds jobs by parts of what they are, whatever became of them', async () => {
    await using test = await createTestHoldfast();
    const { holdfast } = test;
    const at = new Date('2026-01-01T00:00:00Z');
    const client = new pg.Client(test.connectionString);
    await client.connect();
    await client.query('begin');
    await holdfast.enqueue('mail.send', { to: 'ada', parts: ['a'] }, { tx: client });
    await client.query('rollback');
    await client.end();
    const { id } = await holdfast.enqueue(
      'mail.send',
      { to: 'ada', at, parts: ['a', 'b'] },
      { queue: 'mail', delay: '1h', tags: ['x', 'y'], unique: { key: 'k' }, priority: 2 },
    );
    await holdfast.cancel(id);
    const options = { ...{ queue: 'mail', delay: '1h', tags: ['y'] }, uniqueKey: 'k', priority: 2 };
    const found = await test.expectEnqueued(mail, { to: 'ada', at }, { ...options, times: 1 });
    expect(found).toMatchObject([{ id, status: 'cancelled' }]);
    expect(found[0]?.payload.at).toBe(at.toISOString());
    await test.expectEnqueued(mail, ({ parts }) => parts.length === 2);
    await test.expectNotEnqueued(mail, { parts: ['a'] });
    expect(await test.enqueued(mail)).toHaveLength(1);
    await expect(test.expectEnqueued(mail, { to: 'bob' })).rejects.toMatchObject({
      name: 'AssertionError',
      expected: { to: 'bob' },
      actual: { to: 'ada' },
      message: [
        'Expected "mail.send" with {"to":"bob"} to be enqueued, but it was not.',
        'Enqueued were:',
        `  "mail.send" {"at":"2026-01-01T00:00:00.000Z","to":"ada","parts":["a","b"]} (cancelled, queue "mail"): payload.to is "ada" instead of "bob"`,
      ].join('\n'),
    });
    await expect(test.expectNotEnqueued(mail)).rejects.toThrow(
      'not to be enqueued, but it was once',
    );
  });
});
