import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useApplication } from './support/application.ts';
import type { ApplicationWork } from './support/application.ts';
import { libraries } from './support/libraries.ts';
import { createInvoices } from './support/library.ts';
import { storedIn } from './support/stored.ts';
import type { Stored, StoredJob } from './support/stored.ts';

const strange = `it's "quoted" \\ $1 ?? :name \n {a,"b"} ümläut 漢字 🦊`;
const sendInvoice = defineJob({
  type: 'invoice.send',
  run: ({ invoiceId }: { readonly invoiceId: string }) => ({ sent: invoiceId }),
});
const keep = defineJob({ type: 'text.keep', run: (payload: unknown) => payload });
const later = { delay: '1h' };

let db: TestDatabase;
let stored: Stored;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(createInvoices);
  stored = storedIn(db);
});

afterEach(() => stored.clear());
afterAll(() => db.drop());

describe.each(libraries)('a job that is enqueued in a transaction of $name', (library) => {
  const use = <Result>(work: ApplicationWork<Result>) => useApplication(library, db.url, work);

  it('is there after the commit, and a worker runs it', async () => {
    await use(async ({ holdfast, transaction, insertInvoice }) => {
      const { id } = await transaction(async (tx) => {
        await insertInvoice(tx, { id: 'a', note: undefined });
        return holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx });
      });
      expect(await stored.invoiceIds()).toEqual(['a']);
      const worker = createWorker({ holdfast, jobs: [sendInvoice] });
      await worker.start();
      try {
        const job = await holdfast.wait(id, { timeout: '30s' });
        expect(job).toMatchObject({ status: 'completed', result: { sent: 'a' } });
      } finally {
        await worker.stop();
      }
    });
  });

  it('is not there after a rollback', async () => {
    const error = new Error('changed my mind');
    const attempt = use(({ holdfast, transaction, insertInvoice }) =>
      transaction(async (tx) => {
        await insertInvoice(tx, { id: 'a', note: undefined });
        await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx });
        await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { tx, ...later });
        throw error;
      }),
    );
    await expect(attempt).rejects.toBe(error);
    expect(await stored.jobs()).toEqual([]);
    expect(await stored.invoiceIds()).toEqual([]);
  });

  it('goes to a queue that the transaction itself has made, by SQL', async () => {
    const queue = `made in ${library.name}`.replaceAll(/[^A-Za-z]/g, '-');
    await use(({ holdfast, transaction, execute }) =>
      transaction(async (tx) => {
        await execute(tx, `select holdfast.enqueue('default', '${queue}', 'text.keep')`);
        await holdfast.enqueue(keep, 'by Holdfast', { tx, queue });
      }),
    );
    expect(await stored.jobs()).toHaveLength(2);
  });

  it('is committed with others and with the rows of the caller at once', async () => {
    await use(({ holdfast, transaction, insertInvoice }) =>
      transaction(async (tx) => {
        await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx });
        await insertInvoice(tx, { id: 'a', note: strange });
        await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { tx, ...later });
        await holdfast.enqueueMany(sendInvoice, [{ invoiceId: 'c' }, { invoiceId: 'd' }], { tx });
        expect(await stored.jobs(), 'seen before the commit').toEqual([]);
        expect(await stored.invoiceIds(), 'seen before the commit').toEqual([]);
      }),
    );
    expect(invoicesOf(await stored.jobs())).toEqual(['a', 'b', 'c', 'd']);
    expect(await stored.invoiceIds()).toEqual(['a']);
  });

  it('leaves the transaction open when its unique key is held', async () => {
    const unique = { key: 'invoice-a' };
    const answers = await use(async ({ holdfast, transaction, insertInvoice }) => {
      const held = await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { unique, ...later });
      const inside = await transaction(async (tx) => {
        const first = await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { tx, unique });
        await insertInvoice(tx, { id: 'a', note: undefined });
        const rejected = await holdfast
          .enqueue(
            sendInvoice,
            { invoiceId: 'c' },
            { tx, unique: { ...unique, onConflict: 'reject' } },
          )
          .catch((error: unknown) => error);
        const fresh = await holdfast.enqueue(
          sendInvoice,
          { invoiceId: 'd' },
          { tx, unique: { key: 'd' } },
        );
        const again = await holdfast.enqueue(
          sendInvoice,
          { invoiceId: 'e' },
          { tx, unique: { key: 'd' } },
        );
        return { first, rejected, fresh, again };
      });
      return { held, ...inside };
    });
    expect(answers.first).toMatchObject({ id: answers.held.id, deduplicated: true });
    expect(answers.rejected).toMatchObject({ code: 'unique_key_held', holderId: answers.held.id });
    expect(answers.fresh).toMatchObject({ deduplicated: false });
    expect(answers.again).toMatchObject({ id: answers.fresh.id, deduplicated: true });
    expect(invoicesOf(await stored.jobs())).toEqual(['a', 'd']);
    expect(await stored.invoiceIds()).toEqual(['a']);
  });

  it('gives its unique key back when the transaction is rolled back', async () => {
    const unique = { key: 'invoice-a' };
    await use(async ({ holdfast, transaction }) => {
      const attempt = transaction(async (tx) => {
        await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx, unique });
        throw new Error('changed my mind');
      });
      await expect(attempt).rejects.toThrow('changed my mind');
      const next = await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { unique });
      expect(next.deduplicated).toBe(false);
    });
  });

  it('is made once when the same id comes twice', async () => {
    const id = '0197a000-0000-7000-8000-000000000001';
    const answers = await use(({ holdfast, transaction }) =>
      transaction(async (tx) => [
        await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx, id }),
        await holdfast.enqueue(sendInvoice, { invoiceId: 'b' }, { tx, id }),
      ]),
    );
    expect(answers).toMatchObject([
      { id, deduplicated: false },
      { id, deduplicated: true },
    ]);
    expect(invoicesOf(await stored.jobs())).toEqual(['a']);
  });

  it('keeps every character of payload, tags and metadata', async () => {
    const payload = {
      text: strange,
      nothing: null,
      list: [strange, null, 1.5, true],
      [strange]: {},
    };
    await use(({ holdfast, transaction }) =>
      transaction((tx) =>
        holdfast.enqueue(keep, payload, { tx, tags: ['?', '$1', 'ü'], metadata: payload }),
      ),
    );
    expect(await stored.jobs()).toMatchObject([
      { payload, tags: ['?', '$1', 'ü'], metadata: payload },
    ]);
  });

  it('has the same options as one that is enqueued without a transaction', async () => {
    const options = {
      queue: 'mail',
      delay: '2h',
      priority: 2,
      tags: ['a', 'b'],
      metadata: { by: 'test' },
      maxAttempts: 7,
      timeout: '90s',
      backoff: ['10s', '1m'],
      retryUntil: '1d',
      maxExceptions: 3,
      startDeadline: '3h',
    } as const;
    await use(async ({ holdfast, transaction }) => {
      await holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, options);
      await transaction((tx) =>
        holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { ...options, tx }),
      );
    });
    const [first, second, ...more] = (await stored.jobs()).map(settingsOf);
    expect(more).toEqual([]);
    expect(second).toEqual(first);
    expect(first).toMatchObject({ priority: 2, tags: ['a', 'b'], run_at: 120 });
  });

  it('is refused with something that is no transaction, and nothing is written', async () => {
    await use(async ({ holdfast, mistakes }) => {
      for (const [name, mistake] of Object.entries({ ...mistakes, 'a text': 'tx', null: null })) {
        const attempt = holdfast.enqueue(sendInvoice, { invoiceId: 'a' }, { tx: mistake as never });
        await expect(attempt, name).rejects.toMatchObject({ code: 'transaction_invalid' });
      }
    });
    expect(await stored.jobs()).toEqual([]);
  });
});

function invoicesOf(jobs: readonly StoredJob[]): readonly unknown[] {
  return jobs.map(({ payload }) => (payload as { readonly invoiceId: unknown }).invoiceId).sort();
}

/** What was asked for, without what differs from one insert to the next; times as whole minutes from the insert. */
function settingsOf(job: StoredJob): StoredJob {
  const { id: _id, seq: _seq, created_at: createdAt, ...rest } = job;
  const settings = Object.entries(rest).map(([name, value]): [string, unknown] =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
      ? [name, Math.round((Date.parse(value) - Date.parse(String(createdAt))) / 60_000)]
      : [name, value],
  );
  return Object.fromEntries(settings);
}
