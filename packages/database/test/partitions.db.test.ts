import {
  countUnpartitioned,
  dropExpiredPartitions,
  ensurePartitions,
  listPartitions,
  partitionedTables,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeSnapshot } from './support/job-snapshot.ts';
import type { PartitionedTable } from '@holdfast/database';
import type { JobFactory, MadeJob, TestDatabase } from '@holdfast/testing';

const tables = Object.keys(partitionedTables) as PartitionedTable[];
const dayMs = 86_400_000;

let test: TestDatabase;
let factory: JobFactory;

beforeEach(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});
afterEach(async () => {
  await test.drop();
});

function dayOf(offsetDays: number): string {
  return new Date(Date.now() + offsetDays * dayMs).toISOString().slice(0, 10).replaceAll('-', '');
}

async function dropToday(table: PartitionedTable): Promise<void> {
  await test.database.execute(`drop table holdfast.${table}_${dayOf(0)}`);
}

/** Makes the partition of a day that is past. */
async function makePastDay(table: PartitionedTable, offsetDays: number): Promise<void> {
  const name = `holdfast.${table}_${dayOf(offsetDays)}`;
  await test.database.execute(`create table ${name} partition of holdfast.${table}
    for values from ('${dayOf(offsetDays)}') to ('${dayOf(offsetDays + 1)}')`);
}

/** Lets the job's executions have happened some days ago. */
async function backdate(job: MadeJob, days: number): Promise<void> {
  await test.database.execute(`
    update holdfast.jobs set created_at = created_at - interval '${String(days)} days' where id = '${job.id}';
    update holdfast.job_history set created_at = created_at - interval '${String(days)} days' where id = '${job.id}';
    update holdfast.job_executions set recorded_at = recorded_at - interval '${String(days)} days'
    where job_id = '${job.id}';
  `);
}

describe('daily partitions', () => {
  it.each(tables)('of %s reach from yesterday to a week ahead', async (table) => {
    const days = (await listPartitions(test.database, table)).map(({ day }) => day);
    expect(days).toEqual([-1, 0, 1, 2, 3, 4, 5, 6, 7].map(dayOf));
  });

  it('are made once, however many processes try', async () => {
    for (const table of tables) await dropToday(table);
    const made = await Promise.all(
      Array.from({ length: 5 }, () => ensurePartitions(test.database)),
    );
    expect(new Set(made.flat())).toEqual(new Set(tables.map((table) => `${table}_${dayOf(0)}`)));
    expect(await listPartitions(test.database, 'job_logs')).toHaveLength(9);
  });

  it('take the rows of their day', async () => {
    await factory.completed();
    expect(await countUnpartitioned(test.database)).toBe(0);
  });
});

describe('a day without a partition', () => {
  it('does not stop a job, and is counted', async () => {
    for (const table of tables) await dropToday(table);
    const job = await factory.completed();
    expect((await takeSnapshot(test.database, job)).history).toHaveLength(1);
    // The job's row in history and its execution.
    expect(await countUnpartitioned(test.database)).toBe(2);
  });

  it('gets its partition later, with the rows that came meanwhile', async () => {
    for (const table of tables) await dropToday(table);
    const job = await factory.completed();
    const before = await takeSnapshot(test.database, job);
    expect(await ensurePartitions(test.database)).toHaveLength(tables.length);
    expect(await countUnpartitioned(test.database)).toBe(0);
    expect(await takeSnapshot(test.database, job)).toEqual(before);
  });
});

describe('dropping partitions whose time is over', () => {
  it('keeps the executions of jobs that can still change', async () => {
    await makePastDay('job_executions', -9);
    const waiting = await factory.scheduled({ crashCount: 1 });
    const dead = await factory.deadLetter();
    for (const job of [waiting, dead]) await backdate(job, 9);
    const before = await Promise.all(
      [waiting, dead].map((job) => takeSnapshot(test.database, job)),
    );
    const dropped = await dropExpiredPartitions(test.database, 7 * dayMs);
    expect(dropped).toEqual([`job_executions_${dayOf(-9)}`]);
    const after = await Promise.all([waiting, dead].map((job) => takeSnapshot(test.database, job)));
    expect(after).toEqual(before);
    expect(before[0]?.executions).toHaveLength(2);
  });

  it('keeps the early executions of a job that ended within the retention', async () => {
    await makePastDay('job_executions', -9);
    const late = await factory.completed({ crashCount: 1 });
    await backdate(late, 9);
    const before = await takeSnapshot(test.database, late);
    await dropExpiredPartitions(test.database, 7 * dayMs);
    expect(await takeSnapshot(test.database, late)).toEqual(before);
  });

  it('drops the history of the day, and the executions with it', async () => {
    await makePastDay('job_history', -9);
    await makePastDay('job_executions', -9);
    const job = await factory.completed();
    await backdate(job, 9);
    await test.database.execute(`update holdfast.job_history
      set claimed_at = null, started_at = started_at - interval '9 days', finished_at = finished_at - interval '9 days'
      where id = '${job.id}'`);
    expect(await dropExpiredPartitions(test.database, 7 * dayMs)).toHaveLength(2);
    const after = await takeSnapshot(test.database, job);
    expect([after.history, after.executions]).toEqual([[], []]);
  });

  it('happens once, however many processes try', async () => {
    await makePastDay('job_executions', -9);
    const waiting = await factory.scheduled({ crashCount: 1 });
    await backdate(waiting, 9);
    const before = await takeSnapshot(test.database, waiting);
    await Promise.all(
      Array.from({ length: 4 }, () => dropExpiredPartitions(test.database, 7 * dayMs)),
    );
    expect(await takeSnapshot(test.database, waiting)).toEqual(before);
    expect(await listPartitions(test.database, 'job_executions')).toHaveLength(9);
  });

  it('keeps the day that the bound falls into', async () => {
    await makePastDay('job_history', -7);
    expect(await dropExpiredPartitions(test.database, 7 * dayMs)).toEqual([]);
    expect(await dropExpiredPartitions(test.database, 6 * dayMs)).toHaveLength(1);
  });
});
