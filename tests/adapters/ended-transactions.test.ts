import { createTestDatabase, waitFor } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';
import { defineJob, Holdfast } from 'holdfast';
import type { TransactionAdapter } from 'holdfast';
import { drizzleAdapter } from 'holdfast/drizzle';
import { postgresJsAdapter } from 'holdfast/postgres-js';
import postgres from 'postgres';
import type { Sql, TransactionSql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useApplication } from './support/application.ts';
import { libraries } from './support/libraries.ts';

const sendInvoice = defineJob<{ readonly invoiceId: string }>({ type: 'invoice.send' });
const lock = 4711;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe.each(libraries)('a transaction of $name that has ended', (library) => {
  it('keeps neither a call nor the close waiting', async () => {
    await useApplication(library, db.url, async ({ holdfast, transaction }) => {
      const calls = await transaction((tx) =>
        Promise.resolve([
          () => holdfast.enqueue(sendInvoice, { invoiceId: 'late' }, { tx }),
          () => holdfast.chain([sendInvoice.with({ invoiceId: 'late' })]).enqueue({ tx }),
        ]),
      );
      const settled = await Promise.allSettled(calls.map((call) => call()));
      expect(settled).toHaveLength(calls.length);
    });
  });
});

describe('a call that postgres.js never answers, since it was made after the transaction', () => {
  it('rejects, and lets the close end', async () => {
    await onBusyConnection((sql, call) =>
      call(postgresJsAdapter(sql), (use) => sql.begin((tx) => use(tx, tx))),
    );
  });

  it('rejects also below Drizzle', async () => {
    await onBusyConnection((sql, call) => {
      const orm = drizzle(sql);
      return call(drizzleAdapter(orm, drizzleSql), (use) =>
        orm.transaction((tx) =>
          use(tx, (tx._.session as unknown as { client: TransactionSql }).client),
        ),
      );
    });
  });
});

describe('a call that waits for another transaction', () => {
  it('is answered, however long that takes', async () => {
    const sql = postgres(db.url, { max: 2 });
    const holdfast = new Holdfast({ connectionString: db.url, adapter: postgresJsAdapter(sql) });
    const unique = { key: 'invoice-a' };
    try {
      const asked = signal();
      const first = sql.begin(async (holder) => {
        await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx: holder, unique });
        const second = sql.begin(async (tx) => {
          tellOf(tx, asked, 'select 1');
          return [await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { tx, unique })] as const;
        });
        await asked.promise;
        return [() => second] as const;
      });
      const [second] = await first;
      const [answer] = await second();
      expect(answer).toMatchObject({ deduplicated: true });
    } finally {
      await holdfast.close();
      await sql.end();
    }
  });
});

interface Arrived {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

type Open<Tx> = (
  use: (tx: Tx, driver: Pick<TransactionSql, 'unsafe'>) => Promise<void>,
) => Promise<unknown>;

/**
 * Makes a call on a transaction that has ended, while another one has the only connection and waits for a lock. The
 * library puts the statement into the line of the first transaction, which nobody looks at any more.
 */
async function onBusyConnection(
  work: (
    sql: Sql,
    call: <Tx>(adapter: TransactionAdapter<Tx>, open: Open<Tx>) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const sql = postgres(db.url, { max: 1 });
  const locker = postgres(db.url, { max: 1 });
  try {
    await work(sql, async (adapter, open) => {
      const holdfast = new Holdfast({ connectionString: db.url, adapter });
      const ended: Parameters<Parameters<typeof open>[0]>[0][] = [];
      const arrived = signal();
      await open((tx, driver) => {
        tellOf(driver, arrived);
        ended.push(tx);
        return Promise.resolve();
      });
      await locker`select pg_advisory_lock(${lock})`;
      const other = sql.begin((tx) => tx`select pg_advisory_xact_lock(${lock})`);
      await waitFor('the other transaction waits for the lock', async () => {
        // The view shows those of every database of the server, also of the tests beside this one.
        const rows = await locker`select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        return rows.length > 0;
      });
      const late = holdfast.enqueue(sendInvoice, { invoiceId: 'late' }, { tx: ended[0] });
      const refused = expect(late).rejects.toMatchObject({ code: 'transaction_ended' });
      await arrived.promise;
      const closing = holdfast.close();
      await locker`select pg_advisory_unlock(${lock})`;
      await other;
      await refused;
      await closing;
    });
  } finally {
    await Promise.all([sql.end(), locker.end()]);
  }
}

function signal(): Arrived {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Tells when a statement, or the one that is named, has come to the driver. */
function tellOf(
  driver: Pick<TransactionSql, 'unsafe'>,
  { resolve }: Arrived,
  statement?: string,
): void {
  const { unsafe } = driver;
  driver.unsafe = (...args) => {
    if (statement === undefined || args[0] === statement) resolve();
    return unsafe(...args);
  };
}
