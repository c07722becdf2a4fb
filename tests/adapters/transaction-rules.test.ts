import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from 'holdfast';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useApplication } from './support/application.ts';
import type { ApplicationWork } from './support/application.ts';
import { pgCase } from './support/libraries/pg.ts';
import { createInvoices } from './support/library.ts';
import { storedIn } from './support/stored.ts';
import type { Stored } from './support/stored.ts';

const sendInvoice = defineJob<{ readonly invoiceId: string }>({ type: 'invoice.send' });
const id = '0197a000-0000-7000-8000-000000000001';

let db: TestDatabase;
let stored: Stored;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(createInvoices);
  stored = storedIn(db);
});

afterEach(() => stored.clear());
afterAll(() => db.drop());

const use = <Result>(work: ApplicationWork<Result>) => useApplication(pgCase, db.url, work);

describe('an enqueue in a transaction', () => {
  it.each(['repeatable read', 'serializable'])(
    'is a conflict at the level %s when the id was taken since the transaction began',
    async (level) => {
      await use(async ({ holdfast, transaction, execute }) => {
        const attempt = transaction(async (tx) => {
          await execute(tx, `set transaction isolation level ${level}`);
          await execute(tx, 'select 1 from public.invoices');
          await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { id });
          await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { tx, id });
        });
        await expect(attempt).rejects.toMatchObject({ code: '40001' });
      });
      expect(await stored.jobs()).toMatchObject([{ payload: { invoiceId: 'a' } }]);
    },
  );

  it('leaves the transaction as it was when the payload or an option is refused', async () => {
    await use(({ holdfast, transaction, insertInvoice }) =>
      transaction(async (tx) => {
        const attempt = holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx, priority: 99 });
        await expect(attempt).rejects.toMatchObject({ code: 'options_invalid' });
        await insertInvoice(tx, { id: 'a', note: undefined });
      }),
    );
    expect(await stored.invoiceIds()).toEqual(['a']);
  });

  it('makes a queue that does not exist yet, which stays after a rollback', async () => {
    await use(async ({ holdfast, transaction }) => {
      const attempt = transaction(async (tx) => {
        const options = { tx, queue: 'made-by-the-way' };
        await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, options);
        throw new Error('changed my mind');
      });
      await expect(attempt).rejects.toThrow('changed my mind');
      const queues = await holdfast.queues.list();
      expect(queues.map(({ name }) => name)).toContain('made-by-the-way');
    });
  });
});
