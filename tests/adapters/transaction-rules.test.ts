import { createTestDatabase, waitFor } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { defineJob } from 'holdfast';
import type { EnqueueResult } from 'holdfast';
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

  it.each([
    ['is given the first job after a commit', true],
    ['enqueues its own after a rollback', false],
  ])(
    'keeps its unique key from others until it ends: the next caller %s',
    async (_outcome, commits) => {
      const unique = { key: 'invoice-a' };
      await use(async ({ holdfast, transaction }) => {
        const ids: string[] = [];
        const second: Promise<EnqueueResult>[] = [];
        const first = transaction(async (tx) => {
          const { id: firstId } = await holdfast.enqueue(
            sendInvoice,
            { invoiceId: 'a' },
            { tx, unique },
          );
          ids.push(firstId);
          second.push(holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { unique }));
          await waitFor('the second caller waits for the first', isSomebodyWaiting);
          if (!commits) throw new Error('changed my mind');
        });
        await (commits ? first : expect(first).rejects.toThrow('changed my mind'));
        const [answer] = await Promise.all(second);
        expect(answer?.deduplicated).toBe(commits);
        if (commits) expect(answer?.id).toBe(ids[0]);
      });
      expect(await stored.jobs()).toMatchObject([{ payload: { invoiceId: commits ? 'a' : 'b' } }]);
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

async function isSomebodyWaiting(): Promise<boolean> {
  const rows = await db.database.query({
    name: 'waiting_for_locks',
    text: `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  });
  return rows.length > 0;
}
