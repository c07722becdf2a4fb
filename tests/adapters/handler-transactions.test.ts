import { EventEmitter, once } from 'node:events';
import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import type { Job, JobContext } from 'holdfast';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useApplication } from './support/application.ts';
import type { Application, ApplicationWork } from './support/application.ts';
import { libraries } from './support/libraries.ts';
import { createInvoices } from './support/library.ts';
import { storedIn } from './support/stored.ts';
import type { Stored } from './support/stored.ts';

const bookInvoice = defineJob<{ readonly id: string }>({ type: 'invoice.book', maxAttempts: 1 });
const sendInvoice = defineJob<{ readonly invoiceId: string }>({ type: 'invoice.send' });

let db: TestDatabase;
let stored: Stored;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(createInvoices);
  stored = storedIn(db);
});

afterEach(() => stored.clear());
afterAll(() => db.drop());

describe.each(libraries)('ctx.transaction with $name', (library) => {
  const use = <Result>(work: ApplicationWork<Result>) => useApplication(library, db.url, work);

  it('commits rows, jobs and the end of the job together', async () => {
    const job = await use((application) =>
      runOne(application, (ctx) =>
        ctx.transaction(async (tx) => {
          await application.insertInvoice(tx, { id: 'a', note: undefined });
          await ctx.enqueue(sendInvoice, { invoiceId: 'a' }, { tx });
          expect(await stored.invoiceIds(), 'seen before the commit').toEqual([]);
          return { booked: 'a' };
        }),
      ),
    );
    expect(job).toMatchObject({ status: 'completed', result: { booked: 'a' } });
    expect(await stored.invoiceIds()).toEqual(['a']);
    expect(await stored.jobs()).toMatchObject([{ type: 'invoice.send', status: 'queued' }]);
  });

  it('leaves nothing but the failure when the function throws', async () => {
    const job = await use((application) =>
      runOne(application, (ctx) =>
        ctx.transaction(async (tx) => {
          await application.insertInvoice(tx, { id: 'a', note: undefined });
          await ctx.enqueue(sendInvoice, { invoiceId: 'a' }, { tx });
          throw new Error('changed my mind');
        }),
      ),
    );
    expect(job).toMatchObject({ status: 'dead_letter', lastError: { message: 'changed my mind' } });
    expect(await stored.invoiceIds()).toEqual([]);
    expect(await stored.jobs()).toMatchObject([{ type: 'invoice.book' }]);
  });

  it('writes nothing when another worker has the job by the time of the commit', async () => {
    const error = await use(async ({ holdfast, insertInvoice }) => {
      const seen = new EventEmitter();
      const lost = once(seen, 'error-of-transaction');
      const worker = createWorker({ holdfast }).handle(bookInvoice, async (_payload, ctx) => {
        const attempt = ctx.transaction(async (tx) => {
          await insertInvoice(tx, { id: 'a', note: undefined });
          await takeAway(ctx.job.id);
        });
        await attempt.catch((reason: unknown) => seen.emit('error-of-transaction', reason));
      });
      await worker.start();
      try {
        await holdfast.enqueue(bookInvoice, { id: 'a' });
        return (await lost)[0] as unknown;
      } finally {
        await worker.stop();
      }
    });
    expect(error).toMatchObject({ code: 'lease_lost' });
    expect(await stored.invoiceIds()).toEqual([]);
  });

  it('lets the handler hold its lease in a transaction of its own', async () => {
    const job = await use((application) =>
      runOne(application, (ctx) =>
        application.transaction(async (tx) => {
          await ctx.assertLease(tx);
          await application.insertInvoice(tx, { id: 'a', note: undefined });
        }),
      ),
    );
    expect(job.status).toBe('completed');
    expect(await stored.invoiceIds()).toEqual(['a']);
  });
});

/** Runs one job with the handler, and gives the job as it ended. */
async function runOne<Tx>(
  { holdfast }: Application<Tx>,
  run: (ctx: JobContext<Tx>) => Promise<unknown>,
): Promise<Job> {
  const worker = createWorker({ holdfast }).handle(bookInvoice, (_payload, ctx) => run(ctx));
  await worker.start();
  try {
    const { id } = await holdfast.enqueue(bookInvoice, { id: 'a' });
    return await holdfast.wait(id, { timeout: '30s' });
  } finally {
    await worker.stop();
  }
}

/** What the claim of another worker does to the lease. */
async function takeAway(id: string): Promise<void> {
  await db.database.query(
    {
      name: 'take_away',
      text: 'update holdfast.jobs set lease_token = gen_random_uuid() where id = $1::uuid',
    },
    [id],
  );
}
