import { LeaseLostError, PayloadInvalidError, defineJob } from 'holdfast';
import type { HoldfastProducer, JobContext } from 'holdfast';
import { createFakeHoldfast, fakeContext } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const mail = defineJob({
  type: 'mail.send',
  queue: 'mail',
  priority: 3,
  payload: z.object({ to: z.string(), at: z.coerce.date().optional() }),
});
const report = defineJob<{ readonly day?: string }>({ type: 'report' });

// As the runner's types have it, which say `any`.
const matching = expect.stringMatching('^b') as string;
const anyText = expect.any(String) as string;

/** As an application has it. */
async function register(holdfast: HoldfastProducer, name: string): Promise<string> {
  await holdfast.emit('user.registered', { name });
  const { id } = await holdfast.enqueue(mail, { to: name }, { delay: '5m', tags: ['welcome'] });
  return id;
}

describe('a fake Holdfast', () => {
  it('keeps what it is given, as it would be stored', async () => {
    const fake = createFakeHoldfast();
    const id = await register(fake, 'ada');
    expect(fake.events).toEqual([
      { event: 'user.registered', data: { name: 'ada' }, tx: undefined },
    ]);
    const found = await fake.expectEnqueued(
      mail,
      { to: 'ada' },
      { times: 1, queue: 'mail', status: 'scheduled', delay: '5m', tags: ['welcome'], priority: 3 },
    );
    expect(found.map((job) => job.id)).toEqual([id]);
    await fake.enqueue('by.name', { at: new Date(0) });
    expect(await fake.enqueued('by.name')).toMatchObject([
      {
        status: 'queued',
        queue: 'default',
        payload: { at: '1970-01-01T00:00:00.000Z' },
        delayMs: 0,
      },
    ]);
    fake.clear();
    expect([fake.jobs, fake.events]).toEqual([[], []]);
  });

  it('refuses what the real one refuses', async () => {
    const fake = createFakeHoldfast({ maxPayloadBytes: 100 });
    await expect(fake.enqueue('mail.send', { to: 'x'.repeat(100) })).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    // @ts-expect-error -- a number is no name
    await expect(fake.enqueue(mail, { to: 7 })).rejects.toBeInstanceOf(PayloadInvalidError);
    await expect(fake.enqueue(mail, { to: 'a' }, { priority: 10 })).rejects.toMatchObject({
      code: 'options_invalid',
    });
    // @ts-expect-error -- a number is no name
    await expect(fake.batch([mail.with({ to: 7 })]).enqueue()).rejects.toBeInstanceOf(
      PayloadInvalidError,
    );
    await expect(fake.emit('not a name')).rejects.toMatchObject({ code: 'options_invalid' });
    expect(fake.jobs).toEqual([]);
  });

  it('keeps many jobs, batches, chains and graphs, with the transaction they came in', async () => {
    const fake = createFakeHoldfast<'the transaction'>();
    const tx = 'the transaction';
    const { ids } = await fake.enqueueMany(report, [{ day: 'mon' }, { day: 'tue' }], { tx });
    expect(fake.jobs.map((job) => job.id)).toEqual(ids);
    const batch = await fake
      .batch([mail.with({ to: 'a' }), fake.chain([report.with({}), mail.with({ to: 'b' })])])
      .then(report.with({ day: 'then' }))
      .enqueue({ tx });
    await fake
      .graph((graph) => {
        const first = graph.add(report.with({ day: 'first' }));
        graph.add(report.with({ day: 'second' }), { after: first });
      })
      .enqueue();
    expect(fake.batches).toMatchObject([
      {
        ...{ id: batch.id, kind: 'batch', tx },
        jobs: [{ type: 'mail.send', batchId: batch.id }],
        batches: [{ kind: 'chain', jobs: [{ status: 'queued' }, { status: 'scheduled' }] }],
        callbacks: [{ role: 'then', type: 'report', payload: { day: 'then' } }],
      },
      { kind: 'graph' },
    ]);
    await fake.expectEnqueued(mail, undefined, { times: 2 });
    await fake.expectEnqueued(report, { day: 'second' }, { status: 'scheduled' });
    await fake.expectNotEnqueued(report, { day: 'then' });
    expect(fake.jobs.map((job) => job.tx)).toEqual([tx, tx, tx, tx, tx, undefined, undefined]);
  });

  it('knows ids and unique keys that are taken', async () => {
    const fake = createFakeHoldfast();
    const enqueue = (to: string, onConflict?: 'replace' | 'reject') =>
      fake.enqueue(mail, { to }, { unique: { key: 'k', onConflict } });
    const { id } = await enqueue('a');
    expect(await enqueue('b')).toEqual({
      ...{ id, status: 'queued', deduplicated: true, conflict: 'kept' },
    });
    expect(await enqueue('c', 'replace')).toMatchObject({ id, conflict: 'replaced' });
    await expect(enqueue('d', 'reject')).rejects.toMatchObject({ code: 'unique_key_held' });
    expect(await fake.enqueue(report, {}, { id })).toMatchObject({ deduplicated: true });
    expect(fake.jobs).toMatchObject([{ id, payload: { to: 'c' }, uniqueKey: 'k' }]);
  });

  it('says what there is when an expectation is not met', async () => {
    const fake = createFakeHoldfast();
    await expect(fake.expectEnqueued(mail)).rejects.toThrow(
      'Expected "mail.send" to be enqueued, but it was not.\nNothing was enqueued at all.',
    );
    await fake.enqueue(report, { day: 'mon' });
    await fake.enqueue(mail, { to: 'ada' });
    const problem = fake.expectEnqueued(mail, { to: 'ada' }, { times: 2, queue: 'mail' });
    await expect(problem).rejects.toThrow(
      'Expected "mail.send" with {"to":"ada"} and {"queue":"mail"} to be enqueued 2 times, but it was once.',
    );
    await expect(fake.expectEnqueued(mail, { to: matching })).rejects.toThrow(
      'payload.to is "ada", which the matcher does not accept',
    );
    await fake.expectEnqueued(mail, { to: anyText });
    // @ts-expect-error -- there is no such option
    await expect(fake.expectEnqueued(mail, {}, { queu: 'mail' })).rejects.toThrow(
      'there is no option "queu"; did you mean "queue"?',
    );
  });
});

describe('a fake context', () => {
  it('keeps what a handler does with it', async () => {
    const job = defineJob({
      type: 'invoice.send',
      run: async ({ id }: { readonly id: string }, ctx: JobContext) => {
        ctx.log.info({ id }, 'rendering');
        ctx.log.warn('slow');
        await ctx.progress(40, 'rendered');
        const total = await ctx.step('total', () => ({ cents: 700n.toString(), at: new Date(0) }));
        await ctx.enqueue(mail, { to: 'ada' });
        await ctx.emit('invoice.sent', { id });
        return { total, attempt: ctx.attempt, type: ctx.job.type };
      },
    });
    const ctx = fakeContext({ attempt: 2, job: { type: 'invoice.send' } });
    expect(await job.run?.({ id: 'i7' }, ctx)).toEqual({
      ...{ attempt: 2, type: 'invoice.send' },
      total: { cents: '700', at: '1970-01-01T00:00:00.000Z' },
    });
    expect(ctx.logs).toEqual([
      { level: 'info', message: 'rendering', fields: { id: 'i7' } },
      { level: 'warn', message: 'slow', fields: undefined },
    ]);
    expect(ctx.progressReports).toEqual([{ percent: 40, note: 'rendered' }]);
    expect(ctx.ranSteps).toEqual(['total']);
    await ctx.holdfast.expectEnqueued(mail, { to: 'ada' });
    expect(ctx.holdfast.events).toMatchObject([{ event: 'invoice.sent' }]);
  });

  it('has what earlier attempts and other jobs have left', async () => {
    const ctx = fakeContext({
      steps: { charged: 'c1' },
      parents: [
        { job: report, result: { total: 7 } },
        { job: 'other', status: 'dead_letter' },
      ],
    });
    expect(await ctx.step('charged', () => 'c2')).toBe('c1');
    expect(ctx.ranSteps).toEqual([]);
    await expect(ctx.step('charged', () => 'c3')).rejects.toMatchObject({ code: 'step_repeated' });
    expect(await ctx.parents.resultOf(report)).toEqual({ total: 7 });
    expect(await ctx.parents.all()).toMatchObject([{}, { type: 'other', status: 'dead_letter' }]);
    expect(ctx.batch).toBeUndefined();
    expect(ctx.job.metadata).toBeUndefined();
  });

  it('fails, releases, aborts and loses its lease as a real one', async () => {
    const ctx = fakeContext();
    expect(() => ctx.fail(new Error('boom'), { retry: false })).toThrow(
      expect.objectContaining({ name: 'NonRetryableError', message: 'boom' }),
    );
    expect(ctx.release('1m', 'busy')).toEqual({ delayMs: 60_000, reason: 'busy' });
    await ctx.heartbeat();
    ctx.abort(new Error('timed out'));
    await expect(ctx.heartbeat()).rejects.toThrow('timed out');
    const lost = fakeContext({ leaseLost: true, tx: {} as never });
    await expect(lost.transaction(() => Promise.resolve())).rejects.toBeInstanceOf(LeaseLostError);
  });

  it('gives the handler a transaction when the test has one', async () => {
    const ctx = fakeContext<string[]>({ tx: [] });
    const write = (tx: string[]) => Promise.resolve(tx.push('row'));
    expect(await ctx.transaction(write)).toBe(1);
    expect(ctx.commitCount).toBe(1);
    await expect(ctx.transaction(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(ctx.commitCount).toBe(1);
    await expect(fakeContext().transaction(() => Promise.resolve())).rejects.toThrow(
      'give fakeContext the tx',
    );
  });
});
