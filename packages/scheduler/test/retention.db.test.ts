import {
  countUnpartitioned,
  defaultRetention,
  ensurePartitions,
  listPartitions,
  partitionedTables,
  prune,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PartitionedTable } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

const oldDays = 20;
const tables = Object.keys(partitionedTables) as PartitionedTable[];

let test: TestDatabase;

beforeEach(async () => {
  test = await createTestDatabase();
});

afterEach(async () => {
  await test.drop();
});

async function run<Row extends object>(text: string): Promise<readonly Row[]> {
  return test.database.query<Row>({ name: '', text });
}

async function count(table: string, condition = 'true'): Promise<number> {
  const [row] = await run<{ readonly count: number }>(
    `select count(*)::integer as count from holdfast.${table} where ${condition}`,
  );
  return row?.count ?? 0;
}

/** Makes the partitions of a day long ago and moves everything that has ended there. */
async function ageEverything(): Promise<void> {
  const [row] = await run<{ readonly day: string; readonly next: string }>(
    `select to_char(now() - interval '${String(oldDays)} days', 'YYYYMMDD') as day,
       to_char(now() - interval '${String(oldDays - 1)} days', 'YYYYMMDD') as next`,
  );
  const { day = '', next = '' } = row ?? {};
  for (const table of tables) {
    await run(
      `create table holdfast.${table}_${day} partition of holdfast.${table}
       for values from ('${day}') to ('${next}')`,
    );
  }
  const age = `interval '${String(oldDays)} days'`;
  await run(
    `update holdfast.job_history set finished_at = finished_at - ${age},
       started_at = started_at - ${age}, claimed_at = claimed_at - ${age}`,
  );
  await run(`update holdfast.jobs set created_at = created_at - ${age}`);
  await run(`update holdfast.job_executions set recorded_at = recorded_at - ${age}`);
}

describe('retention', () => {
  it('drops the days that are over and keeps the executions of jobs that can still change', async () => {
    const factory = await createJobFactory(test.database);
    const completed = await factory.completed();
    const dead = await factory.deadLetter();
    await ageEverything();
    const report = await prune(test.database, defaultRetention);
    expect(report.partitions).toHaveLength(tables.length);
    expect(await count('job_history')).toBe(0);
    expect(await count('job_executions', `job_id = '${completed.id}'`)).toBe(0);
    expect(await count('job_executions', `job_id = '${dead.id}'`)).toBe(1);
    expect(await count('jobs', `id = '${dead.id}' and status = 'dead_letter'`)).toBe(1);
  });

  it('can be applied by several schedulers at once', async () => {
    const factory = await createJobFactory(test.database);
    await factory.completed();
    await factory.deadLetter();
    await ageEverything();
    await Promise.all([1, 2, 3].map(() => prune(test.database, defaultRetention)));
    expect(await count('job_history')).toBe(0);
    expect(await count('job_executions')).toBe(1);
  });

  it('retires dead letters after their own time, and no job that can still change', async () => {
    const factory = await createJobFactory(test.database);
    const dead = await factory.deadLetter();
    const resting = await factory.failed();
    const waiting = await factory.scheduled();
    await run(
      `update holdfast.jobs set created_at = now() - interval '1000 days', finished_at = now() - interval '91 days',
         claimed_at = now() - interval '92 days', started_at = null
       where status in ('failed', 'dead_letter')`,
    );
    const report = await prune(test.database, defaultRetention);
    expect(report.retiredDeadLetters).toBe(1);
    expect(await count('job_history', `id = '${dead.id}' and status = 'dead_letter'`)).toBe(1);
    for (const { id } of [resting, waiting]) expect(await count('jobs', `id = '${id}'`)).toBe(1);
  });
});

describe('partitions', () => {
  it('are made a week ahead, by several schedulers at once', async () => {
    for (const { name } of await listPartitions(test.database, 'job_history')) {
      await run(`drop table holdfast.${name}`);
    }
    expect(await listPartitions(test.database, 'job_history')).toEqual([]);
    await Promise.all([1, 2, 3].map(() => ensurePartitions(test.database)));
    expect(await listPartitions(test.database, 'job_history')).toHaveLength(9);
  });

  it('may be missing: rows are kept, counted as an alarm, and moved once the partition is made', async () => {
    for (const { name } of await listPartitions(test.database, 'job_history')) {
      await run(`drop table holdfast.${name}`);
    }
    const factory = await createJobFactory(test.database);
    await factory.completed();
    expect(await count('job_history')).toBe(1);
    expect(await countUnpartitioned(test.database)).toBe(1);
    await ensurePartitions(test.database);
    expect(await countUnpartitioned(test.database)).toBe(0);
    expect(await count('job_history')).toBe(1);
    expect(await count('job_history_default')).toBe(0);
  });

  it('that cannot be made leave no connection behind in a failed transaction', async () => {
    const [newest] = (await listPartitions(test.database, 'job_logs')).slice(-1);
    const name = newest?.name ?? '';
    await run(`drop table holdfast.${name}`);
    // Something else has the name.
    await run(`create view holdfast.${name} as select 1 as one`);
    await expect(ensurePartitions(test.database)).rejects.toThrow();
    for (let connection = 0; connection < 10; connection += 1) {
      expect(await count('projects')).toBe(1);
    }
  });
});
