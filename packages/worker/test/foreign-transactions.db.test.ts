import { waitFor } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { createEffects, effectsOf, writeEffect } from './support/effects.ts';
import { openWorkshop } from './support/workshop.ts';
import type { JobContext } from '../src/handler.ts';
import type { TransactionOpener } from '../src/transaction-opener.ts';
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

describe('a transaction that sees one snapshot', () => {
  const opener: TransactionOpener<pg.Client> = {
    async transaction(run) {
      const client = new pg.Client({ connectionString: shop.url });
      await client.connect();
      try {
        await client.query('begin isolation level repeatable read');
        const result = await run(client);
        await client.query('commit');
        return result;
      } finally {
        await client.end();
      }
    },
    toQueryable: (client) => ({
      query: async (text, values) =>
        (await client.query<Record<string, unknown>>(text, [...values])).rows,
    }),
  };

  it('completes the job although heartbeats and the write of the start come in between', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction(async (tx: pg.Client) => {
        await writeEffect(tx, context);
        context.progress(50);
        await tx.query('select pg_sleep($1)', [(leaseMs * 1.3) / 1_000]);
        return context.signal.aborted;
      });
    await shop.start({ handlers: { [type]: handler }, transactions: opener, leaseMs });
    const ids = await Promise.all(Array.from({ length: 8 }, () => shop.enqueue(type)));
    for (const id of ids) {
      expect(await shop.untilEnded(id)).toMatchObject({
        status: 'completed',
        attempt: 1,
        result: false,
      });
      expect(await effectsOf(shop, id)).toEqual(['done']);
    }
  });
});

describe('a commit without an answer', () => {
  /** Cuts the connection instead of waiting for the answer to the first transaction's commit. */
  function cutting(options: { readonly isSent: boolean }): TransactionOpener<pg.Client> {
    let count = 0;
    return {
      async transaction(run) {
        count += 1;
        const client = new pg.Client({ connectionString: shop.url });
        client.on('error', () => undefined);
        await client.connect();
        await client.query('begin');
        const result = await run(client);
        if (count > 1) {
          await client.query('commit');
          await client.end();
          return result;
        }
        if (options.isSent) await client.query('commit');
        client.connection.stream.destroy();
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      },
      toQueryable: (client) => ({
        query: async (text, values) =>
          (await client.query<Record<string, unknown>>(text, [...values])).rows,
      }),
    };
  }

  it('is success when the commit took place', async () => {
    const handler = async (_payload: unknown, context: JobContext) => {
      const given = await context.transaction(async (tx: pg.Client) => {
        await writeEffect(tx, context);
        return 'kept';
      });
      return given;
    };
    await shop.start({ handlers: { [type]: handler }, transactions: cutting({ isSent: true }) });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: 'kept' });
    await waitFor('the worker has looked', () =>
      shop.logs().some(({ jobId, msg }) => jobId === id && String(msg).includes('commit')),
    );
    expect(await effectsOf(shop, id)).toEqual(['done']);
    expect(await shop.executions(id)).toHaveLength(1);
  });

  it('fails the attempt when it did not, and the next one writes once', async () => {
    const handler = (_payload: unknown, context: JobContext) =>
      context.transaction((tx: pg.Client) => writeEffect(tx, context, String(context.attempt)));
    await shop.start({ handlers: { [type]: handler }, transactions: cutting({ isSent: false }) });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(await effectsOf(shop, id)).toEqual(['2']);
    const executions = await shop.executions(id);
    expect(executions.map(({ status }) => status)).toEqual(['failed', 'completed']);
  });
});

describe('assertLease', () => {
  async function inTransaction(work: (tx: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: shop.url });
    await client.connect();
    try {
      await client.query('begin');
      await work(client);
      await client.query('commit');
    } finally {
      await client.end();
    }
  }
  const opener: TransactionOpener<pg.Client> = {
    transaction: () => Promise.reject(new Error('not used')),
    toQueryable: (client) => ({
      query: async (text, values) =>
        (await client.query<Record<string, unknown>>(text, [...values])).rows,
    }),
  };

  it('keeps the lease from the reaper until the handler’s transaction has ended', async () => {
    const handler = async (_payload: unknown, context: JobContext) => {
      context.progress(10);
      await inTransaction(async (tx) => {
        await writeEffect(tx, context);
        await context.assertLease(tx);
        context.progress(20);
        await tx.query('select pg_sleep($1)', [(leaseMs * 1.3) / 1_000]);
      });
      return context.signal.aborted;
    };
    await shop.start({ handlers: { [type]: handler }, transactions: opener, leaseMs });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: false });
    expect(await effectsOf(shop, id)).toEqual(['done']);
    const [progress] = await shop.ask('select progress from holdfast.all_jobs where id = $1', [id]);
    expect(progress).toEqual({ progress: { percent: 20 } });
  });

  it('throws when the lease is gone', async () => {
    const codes: unknown[] = [];
    const handler = async (_payload: unknown, context: JobContext) => {
      if (context.job.executionSeq > 1) return;
      await shop.takeLease(context.job.id);
      await inTransaction(async (tx) => {
        await writeEffect(tx, context);
        await context.assertLease(tx);
      }).catch((error: unknown) => codes.push((error as { readonly code?: string }).code));
    };
    await shop.start({ handlers: { [type]: handler }, transactions: opener });
    const id = await shop.enqueue(type);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', executionSeq: 2 });
    await waitFor('the first execution has failed', () => codes.length > 0);
    expect(codes).toEqual(['lease_lost']);
    expect(await effectsOf(shop, id)).toEqual([]);
  });
});
