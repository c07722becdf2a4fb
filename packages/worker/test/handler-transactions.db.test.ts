import { waitFor } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { createGate } from './support/gate.ts';
import { createEffects, effectsOf, writeEffect } from './support/effects.ts';
import { openWorkshop } from './support/workshop.ts';
import type { JobContext } from '../src/handler.ts';
import type { Workshop } from './support/workshop.ts';

let shop: Workshop;

beforeAll(async () => {
  shop = await openWorkshop();
  await createEffects(shop);
});
afterAll(async () => {
  await shop.close();
});

/** For tests of what takes longer than a lease. */
const leaseMs = 5_000;

afterEach(() => shop.stopEngines());

let type: string;
let typeCount = 0;
beforeEach(() => {
  typeCount += 1;
  type = `test.${String(typeCount)}`;
});

describe('a transaction that completes the job', () => {
  it('commits what the handler wrote together with the end, and gives the function’s value', async () => {
    const seen: unknown[] = [];
    const handler = async (_payload: unknown, context: JobContext) => {
      context.log.info('before');
      context.progress(50, 'half');
      const given = await context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context);
        seen.push(await effectsOf(shop, context.job.id), (await shop.job(context.job.id))?.status);
        context.log.info('inside');
        return { ok: true };
      });
      seen.push(given, (await shop.job(context.job.id))?.status);
      return given;
    };
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: { ok: true } });
    expect(await effectsOf(shop, id)).toEqual(['done']);
    await waitFor('the handler has ended', () => seen.length === 4);
    expect(seen).toEqual([[], expect.stringMatching(/claimed|running/), { ok: true }, 'completed']);
    expect(await shop.executions(id)).toEqual([{ status: 'completed', seq: 1 }]);
    const logs = await shop.ask(
      'select message from holdfast.job_logs where job_id = $1 order by line',
      [id],
    );
    expect(logs).toEqual([{ message: 'before' }, { message: 'inside' }]);
    const [progress] = await shop.ask('select progress from holdfast.all_jobs where id = $1', [id]);
    expect(progress).toEqual({ progress: { percent: 50, note: 'half' } });
  });

  it('is rolled back when its function throws, and may be tried again in the same attempt', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context
        .transaction(async (tx: pg.PoolClient) => {
          await writeEffect(tx, context, 'first');
          throw new Error('no');
        })
        .catch(() =>
          context.transaction(async (tx: pg.PoolClient) => {
            await writeEffect(tx, context, 'second');
          }),
        );
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(await effectsOf(shop, id)).toEqual(['second']);
  });

  it('fails the attempt by what its function threw, and works in the next', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context, `attempt ${String(context.attempt)}`);
        if (context.attempt === 1) throw new Error('the first time');
      });
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(await effectsOf(shop, id)).toEqual(['attempt 2']);
    expect((await shop.executions(id)).map(({ status }) => status)).toEqual([
      'failed',
      'completed',
    ]);
  });

  it.each(['commit', 'rollback'])(
    'fails the attempt when its function said %s itself',
    async (word) => {
      const handler = (_payload: unknown, context: JobContext) =>
        context.transaction((tx: pg.PoolClient) => tx.query(word));
      await shop.start({ handlers: { [type]: handler } });
      const id = await shop.enqueue(type, { maxAttempts: 1 });
      expect(await shop.untilEnded(id)).toMatchObject({
        status: 'dead_letter',
        lastError: { code: 'transaction_invalid' },
      });
    },
  );

  it('is needed to assert the lease, which holds until its end', async () => {
    const client = new pg.Client(shop.url);
    await client.connect();
    await shop.start({ handlers: { [type]: (_, context) => context.assertLease(client) } });
    const id = await shop.enqueue(type, { maxAttempts: 1 });
    expect(await shop.untilEnded(id)).toMatchObject({
      status: 'dead_letter',
      lastError: { code: 'transaction_invalid' },
    });
    await client.end();
  });

  it('fails the attempt when a statement had failed and nobody said so', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context);
        await tx.query('select 1 / 0').catch(() => undefined);
      });
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type, { maxAttempts: 1 });
    expect(await shop.untilEnded(id)).toMatchObject({
      status: 'dead_letter',
      lastError: { code: '25P02' },
    });
    expect(await effectsOf(shop, id)).toEqual([]);
  });

  it('keeps the job completed whatever the handler throws or gives afterwards', async () => {
    const handler = async (payload: unknown, context: JobContext) => {
      await context.transaction((tx: pg.PoolClient) => writeEffect(tx, context));
      const { then } = payload as { readonly then: string };
      if (then === 'throw') throw new Error('afterwards');
      return then === 'release' ? context.release('1h') : 'another result';
    };
    await shop.start({ handlers: { [type]: handler } });
    for (const then of ['throw', 'release', 'give']) {
      const id = await shop.enqueue(type, { payloadJson: JSON.stringify({ then }) });
      expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: null });
      await waitFor('the worker has said that the rest counts for nothing', () =>
        shop
          .logs()
          .some(({ jobId, msg }) => jobId === id && String(msg).includes('changes nothing')),
      );
      expect(await shop.job(id)).toMatchObject({ status: 'completed', attempt: 1 });
      expect(await shop.executions(id)).toHaveLength(1);
    }
  });

  it('is refused a second time, while it is open and when it is committed', async () => {
    const codes: unknown[] = [];
    const noteCode = (error: unknown) => codes.push((error as { readonly code?: string }).code);
    const handler = async (_payload: unknown, context: JobContext) => {
      const nothing = () => Promise.resolve();
      await context.transaction(() => context.transaction(nothing).catch(noteCode));
      await context.transaction(nothing).catch(noteCode);
    };
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed' });
    await waitFor('both were refused', () => codes.length === 2);
    expect(codes).toEqual(['transaction_open', 'transaction_committed']);
  });

  it('stores a note for a result that JSON cannot hold', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context);
        return 'y'.repeat(2_000_000);
      });
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({
      status: 'completed',
      result: { holdfast: 'payload_too_large' },
    });
    expect(await effectsOf(shop, id)).toEqual(['done']);
  });

  it('cannot release the job', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(() => Promise.resolve(context.release('1s')));
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type, { maxAttempts: 1 });
    expect(await shop.untilEnded(id)).toMatchObject({
      lastError: { code: 'release_in_transaction' },
    });
  });

  it('keeps its lease for longer than a lease', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context);
        await tx.query('select pg_sleep($1)', [(leaseMs * 1.3) / 1_000]);
        return context.signal.aborted && shop.logs().slice(-9);
      });
    await shop.start({ handlers: { [type]: handler }, leaseMs });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: false });
    expect(await shop.executions(id)).toHaveLength(1);
  });
});

describe('a transaction whose lease is gone', () => {
  it.each([
    ['before it begins', 'before'],
    ['while its function runs', 'inside'],
  ])('writes nothing when it was lost %s', async (_when, moment) => {
    const errors: unknown[] = [];
    const handler = async (_payload: unknown, context: JobContext) => {
      if (context.job.executionSeq > 1) return 'second';
      if (moment === 'before') await shop.takeLease(context.job.id);
      await context
        .transaction(async (tx: pg.PoolClient) => {
          await writeEffect(tx, context);
          if (moment === 'inside') await shop.takeLease(context.job.id);
        })
        .catch((error: unknown) => {
          errors.push((error as { readonly code?: string }).code, context.signal.aborted);
          throw error;
        });
      return 'first';
    };
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: 'second' });
    await waitFor('the first execution has failed', () => errors.length > 0);
    expect(errors).toEqual(['lease_lost', true]);
    expect(await effectsOf(shop, id)).toEqual([]);
    expect((await shop.executions(id)).map(({ status }) => status)).toEqual([
      'running',
      'completed',
    ]);
  });

  it('writes nothing when the worker stopped waiting for its function', async () => {
    const inside = createGate();
    const goOn = createGate();
    const over = createGate();
    const errors: unknown[] = [];
    const handler = (_payload: unknown, context: JobContext) =>
      context
        .transaction(async (tx: pg.PoolClient) => {
          await writeEffect(tx, context);
          inside.open();
          await goOn.opened;
        })
        .catch((error: unknown) => errors.push((error as { readonly code?: string }).code))
        .finally(over.open);
    const engine = await shop.start({ handlers: { [type]: handler }, drainTimeoutMs: 1 });
    const id = await shop.enqueue(type);
    await inside.opened;
    await engine.stop();
    expect(await shop.job(id)).toMatchObject({ status: 'queued', attempt: 0 });
    goOn.open();
    await over.opened;
    expect(errors).toEqual(['lease_lost']);
    expect(await effectsOf(shop, id)).toEqual([]);
  });
});

describe('a request from outside during the transaction', () => {
  it('completes the job although its cancel was requested', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context);
        await shop.cancel(context.job.id);
        await waitFor('the signal is aborted', () => context.signal.aborted);
        return (context.signal.reason as { readonly code?: string }).code;
      });
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({
      status: 'completed',
      result: 'cancelled',
      cancelRequestedAt: expect.any(Date) as unknown,
    });
    expect(await effectsOf(shop, id)).toEqual(['done']);
  });

  it('completes the job when it commits after the timeout’s abort, within the grace', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.PoolClient) => {
        await writeEffect(tx, context);
        await waitFor('the signal is aborted', () => context.signal.aborted);
        return (context.signal.reason as { readonly code?: string }).code;
      });
    await shop.start({ handlers: { [type]: handler } });
    const id = await shop.enqueue(type, { timeoutMs: 50 });
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: 'timed_out' });
    expect(await effectsOf(shop, id)).toEqual(['done']);
  });
});
