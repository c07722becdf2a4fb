import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import type { Holdfast } from 'holdfast';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useApplication } from './support/application.ts';
import type { ApplicationWork } from './support/application.ts';
import { libraries } from './support/libraries.ts';
import { createInvoices } from './support/library.ts';
import { storedIn } from './support/stored.ts';
import type { Stored } from './support/stored.ts';

const step = defineJob({ type: 'order.step', run: (name: string) => ({ name }) });

let db: TestDatabase;
let stored: Stored;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(createInvoices);
  stored = storedIn(db);
});

afterEach(() => stored.clear());
afterAll(() => db.drop());

describe.each(libraries)('in a transaction of $name', (library) => {
  const use = <Result>(work: ApplicationWork<Result>) => useApplication(library, db.url, work);

  it('a batch, a chain and a graph are enqueued with the rows of the caller, and run', async () => {
    await use(async ({ holdfast, transaction, insertInvoice }) => {
      const ids = await transaction(async (tx) => {
        await insertInvoice(tx, { id: 'a', note: undefined });
        const enqueued = await enqueueAll(holdfast, tx);
        expect(await stored.jobs(), 'seen before the commit').toEqual([]);
        return enqueued;
      });
      const worker = createWorker({ holdfast, jobs: [step] });
      await worker.start();
      try {
        const ended = await Promise.all(ids.map((id) => holdfast.wait(id, { timeout: '30s' })));
        expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
      } finally {
        await worker.stop();
      }
    });
  });

  it('what is refused because an id is taken leaves nothing, and the caller goes on', async () => {
    await use(async ({ holdfast, transaction, insertInvoice }) => {
      const { id } = await holdfast.enqueue(step, '1', { delay: '1h' });
      const open = await holdfast.batch([step.with('2', { delay: '1h' })]).enqueue();
      const countBefore = await batchCount();
      const members = [step.with('3'), step.with('4', { id })];
      await transaction(async (tx) => {
        const refused = { code: 'batch_member_exists' };
        await expect(holdfast.batch(members).enqueue({ tx })).rejects.toMatchObject(refused);
        await expect(holdfast.chain(members).enqueue({ tx })).rejects.toMatchObject(refused);
        const addition = holdfast.batches.add(open.id, [step.with('5'), holdfast.batch(members)], {
          tx,
        });
        await expect(addition).rejects.toMatchObject(refused);
        await insertInvoice(tx, { id: 'b', note: undefined });
      });
      expect(await stored.jobs()).toHaveLength(2);
      expect(await batchCount()).toBe(countBefore);
      expect(await stored.invoiceIds()).toEqual(['b']);
    });
  });

  it('a batch, a chain and a graph leave nothing after a rollback', async () => {
    const countBefore = await batchCount();
    const attempt = use(({ holdfast, transaction }) =>
      transaction(async (tx) => {
        await enqueueAll(holdfast, tx);
        throw new Error('changed my mind');
      }),
    );
    await expect(attempt).rejects.toThrow('changed my mind');
    expect(await stored.jobs()).toEqual([]);
    expect(await batchCount()).toBe(countBefore);
  });
});

/** Six jobs, of which some wait for others. */
async function enqueueAll<Tx>(holdfast: Holdfast<Tx>, tx: Tx): Promise<readonly string[]> {
  const batch = holdfast
    .batch([step.with('1'), step.with("2 'quoted' $1 ?")])
    .finally(step.with('3'));
  const chain = holdfast.chain([step.with('4'), step.with('5')]);
  const graph = holdfast.graph((g) => {
    const parent = g.add(step.with('6'));
    g.add(step.with('7'), { after: [parent] });
  });
  const results = [];
  for (const plan of [batch, chain, graph]) results.push(await plan.enqueue({ tx }));
  return results.flatMap(({ jobIds }) => jobIds);
}

async function batchCount(): Promise<number> {
  const rows = await db.database.query({
    name: 'count_batches',
    text: 'select 1 from holdfast.batches union all select 1 from holdfast.batch_callbacks',
  });
  return rows.length;
}
