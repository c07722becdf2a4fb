import { executionStatuses, jobStatuses } from '@holdfast/domain';
import { createTestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await test.drop();
});

const readColumns: Statement = {
  name: 'test_read_columns',
  text: `select table_name || '.' || column_name as name, data_type as type, collation_name as collation
    from information_schema.columns where table_schema = 'holdfast'
    order by table_name, ordinal_position`,
};

async function labelsOf(type: 'job_status' | 'execution_status'): Promise<readonly string[]> {
  const rows = await test.database.query<{ label: string }>({
    name: `test_labels_${type}`,
    text: `select unnest(enum_range(null::holdfast.${type}))::text as label`,
  });
  return rows.map(({ label }) => label);
}

async function columns() {
  return test.database.query<{ name: string; type: string; collation: string | null }>(readColumns);
}

describe('the schema', () => {
  it('has the statuses of a job in the order of the domain', async () => {
    expect(await labelsOf('job_status')).toEqual(jobStatuses);
  });

  it('has the statuses of an execution in the order of the domain', async () => {
    expect(await labelsOf('execution_status')).toEqual(executionStatuses);
  });

  it('keeps the same columns in jobs and in history, in the same order', async () => {
    const rows = await columns();
    const of = (table: string) =>
      rows
        .filter(({ name }) => name.startsWith(`${table}.`))
        .map(({ name, type }) => [name.slice(table.length + 1), type]);
    expect(of('job_history')).toEqual(of('jobs'));
  });

  it('has no identifier that could run out: each is a uuid or a bigint', async () => {
    const ids = (await columns()).filter(({ name }) => /\.(id|seq|\w+_id)$/.test(name));
    // A key's id is eight random characters that it shows.
    const odd = ids.filter(({ type }) => type !== 'uuid' && type !== 'bigint');
    expect(odd.map(({ name }) => name)).toEqual(['api_keys.id']);
  });

  it('has no time without a zone', async () => {
    const times = (await columns()).filter(({ name }) => /(_at|_until|\.minute)$/.test(name));
    expect(times.length).toBeGreaterThan(40);
    expect(times.filter(({ type }) => type !== 'timestamp with time zone')).toEqual([]);
  });

  it('sorts the names in keys bytewise', async () => {
    const keys = ['queues.name', 'jobs.type', 'schedules.name', 'projects.slug', 'users.email'];
    const found = (await columns()).filter(({ name }) => keys.includes(name));
    expect(found.map(({ collation }) => collation)).toEqual(keys.map(() => 'C'));
  });

  it('has no foreign key from or to a hot table', async () => {
    const rows = await test.database.query({
      name: 'test_hot_keys',
      text: `select conname from pg_constraint
        where contype = 'f' and (conrelid in ('holdfast.jobs'::regclass, 'holdfast.workers'::regclass)
          or confrelid in ('holdfast.jobs'::regclass, 'holdfast.workers'::regclass))`,
    });
    expect(rows).toEqual([]);
  });
});
