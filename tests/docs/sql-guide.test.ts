import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fencesOf, readPage, tableRowsOf } from './support/markdown.ts';

const page = readPage('docs/guides/sql.md');
const samples = fencesOf(page).filter(({ language }) => language === 'sql');
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const jobs = () =>
  db.database.query({
    name: 'docs_sql_jobs',
    text: `select payload, priority, status::text as status from holdfast.jobs order by payload -> 'invoiceId'`,
  });

describe('the guide about SQL', () => {
  it('enqueues as it says', async () => {
    await db.database.execute(samples[0]?.body ?? '');
    expect(await jobs()).toEqual([
      { payload: { invoiceId: 42 }, priority: 5, status: 'queued' },
      { payload: { invoiceId: 43 }, priority: 2, status: 'scheduled' },
    ]);
  });

  it('has a trigger that makes one job, with the newest payload', async () => {
    await db.database.execute('delete from holdfast.jobs');
    await db.database.execute(samples[1]?.body ?? '');
    expect(await jobs()).toEqual([
      { payload: { invoiceId: 42, customer: 'Acme Ltd' }, priority: 5, status: 'queued' },
    ]);
  });

  it('names options that exist, and no others', async () => {
    const names = tableRowsOf(page).flatMap(([cell = '']) => /^`(\w+)`$/.exec(cell)?.[1] ?? []);
    const options = Object.fromEntries([...names, 'none'].map((name) => [name, '?']));
    const call = db.database.query(
      { name: 'docs_sql_options', text: `select holdfast.enqueue('default', 'q', 't', '{}', $1)` },
      [JSON.stringify(options)],
    );
    const message = await call.then(
      () => '',
      (error: unknown) => String(error),
    );
    const unknown = [...message.matchAll(/no option "(\w+)"/g)].map(([, name]) => name);
    expect(unknown).toEqual(['none']);
    expect(names).toHaveLength(11);
  });
});
