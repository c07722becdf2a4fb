import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import type { TransactionAdapter } from 'holdfast';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createInvoices } from './support/library.ts';
import { libraries } from './support/libraries.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(createInvoices);
  await db.database.execute(
    `create table public.invoice_lines (
      invoice_id text references public.invoices (id) deferrable initially deferred)`,
  );
});

afterEach(() => db.database.execute('delete from public.invoices'));

afterAll(() => db.drop());

const strange = `it's "quoted" \\ $1 ?? :name \n {a,"b"} ümläut 漢字 🦊`;

describe.each(libraries)('the adapter of $name', ({ use }) => {
  it('sends texts and nulls as they are, and answers columns under their own names', async () => {
    const rows = await use(db.url, ({ adapter, transaction }) =>
      transaction((tx) =>
        adapter.toQueryable(tx).query(
          `select $1::text as some_text, $2::text::jsonb ->> 'key' as "from_json", $3::text is null as was_null,
            ($4::text::text[])[2] as second_element, $5::text::uuid as an_id, 'no $1 ? in here' as literal, -- nor $2 here?
            $6::text::integer + 1 as whole_number, $7::text::boolean as yes, $1::text = $8::text as twice`,
          [
            strange,
            JSON.stringify({ key: strange }),
            null,
            '{one,"two \\" $2 ?"}',
            '0197a000-0000-7000-8000-000000000001',
            '41',
            'true',
            strange,
          ],
        ),
      ),
    );
    expect(rows).toEqual([
      {
        some_text: strange,
        from_json: strange,
        was_null: true,
        second_element: 'two " $2 ?',
        an_id: '0197a000-0000-7000-8000-000000000001',
        literal: 'no $1 ? in here',
        whole_number: 42,
        yes: true,
        twice: true,
      },
    ]);
  });

  it('answers the rows that a change returns, and none for a statement without any', async () => {
    const answers = await use(db.url, ({ adapter, transaction, insertInvoice }) =>
      transaction(async (tx) => {
        await insertInvoice(tx, { id: 'changed', note: undefined });
        const { query } = adapter.toQueryable(tx);
        const updated = await query('update invoices set note = $1::text returning id', ['new']);
        const none = await query('update invoices set note = $1::text', ['newer']);
        const deleted = await query('delete from invoices where id = $1::text returning note', [
          'changed',
        ]);
        return { updated, none, deleted };
      }),
    );
    expect(answers).toEqual({
      updated: [{ id: 'changed' }],
      none: [],
      deleted: [{ note: 'newer' }],
    });
  });

  it('refuses what is no transaction', async () => {
    await use(db.url, ({ adapter, mistakes }) => {
      expect(Object.keys(mistakes).length).toBeGreaterThan(0);
      for (const [name, mistake] of Object.entries(mistakes)) {
        expect(() => adapter.toQueryable(mistake as never), name).toThrow(
          expect.objectContaining({ code: 'transaction_invalid' }) as Error,
        );
      }
      return Promise.resolve();
    });
  });

  it('opens a transaction that commits, and passes the result through', async () => {
    const result = ['a', Promise.resolve('b')];
    const answer = await use(db.url, ({ adapter, insertInvoice }) =>
      openTransaction(adapter, async (tx) => {
        await insertInvoice(tx, { id: 'kept', note: undefined });
        return { result };
      }),
    );
    expect(answer.result).toBe(result);
    expect(await invoiceIds()).toEqual(['kept']);
  });

  it('rolls its transaction back when the function throws, and throws the same error', async () => {
    const error = new Error('changed my mind');
    const attempt = use(db.url, ({ adapter, insertInvoice }) =>
      openTransaction(adapter, async (tx) => {
        await insertInvoice(tx, { id: 'lost', note: undefined });
        throw error;
      }),
    );
    await expect(attempt).rejects.toBe(error);
    expect(await invoiceIds()).toEqual([]);
  });

  it('rejects when the commit fails', async () => {
    const attempt = use(db.url, ({ adapter, execute }) =>
      openTransaction(adapter, (tx) =>
        execute(tx, "insert into public.invoice_lines (invoice_id) values ('none')"),
      ),
    );
    await expect(attempt).rejects.toThrow();
  });

  it('opens transactions at the isolation level that it was told', async () => {
    const rows = await use(db.url, ({ serializable }) =>
      openTransaction(serializable, (tx) =>
        serializable
          .toQueryable(tx)
          .query("select current_setting('transaction_isolation') as level", []),
      ),
    );
    expect(rows).toEqual([{ level: 'serializable' }]);
  });
});

// postgres.js writes its rollback to the socket that is gone, and the error of that ends the process.
const survivors = libraries.filter(({ name }) => !name.includes('postgres.js'));

describe.each(survivors)('a connection of $name that breaks in a transaction', ({ use }) => {
  it('rejects, and the next transaction has another connection', async () => {
    await use(db.url, async ({ adapter, execute, insertInvoice }) => {
      const attempt = openTransaction(adapter, async (tx) => {
        await insertInvoice(tx, { id: 'lost', note: undefined });
        await execute(tx, 'select pg_terminate_backend(pg_backend_pid())');
      });
      await expect(attempt).rejects.toThrow();
      await openTransaction(adapter, (tx) => insertInvoice(tx, { id: 'kept', note: undefined }));
    });
    expect(await invoiceIds()).toEqual(['kept']);
  });
});

async function openTransaction<Tx, Result>(
  adapter: TransactionAdapter<Tx>,
  run: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  if (adapter.transaction === undefined) throw new Error(`${adapter.name} opens no transactions`);
  return adapter.transaction(run);
}

async function invoiceIds(): Promise<readonly string[]> {
  const rows = await db.database.query<{ id: string }>({
    name: 'invoice_ids',
    text: 'select id from public.invoices order by id',
  });
  return rows.map(({ id }) => id);
}
