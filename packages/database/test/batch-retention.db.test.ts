import { defaultRetention, prune, replayJob } from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBatchKit } from './support/batch-kit.ts';
import type { TestDatabase } from '@holdfast/testing';
import type { BatchKit } from './support/batch-kit.ts';

let test: TestDatabase;
let kit: BatchKit;

beforeEach(async () => {
  test = await createTestDatabase();
  const { projectId } = await createJobFactory(test.database);
  kit = createBatchKit(test.database, projectId);
});
afterEach(async () => {
  await test.drop();
});

/** Lets everything have happened that many days ago, and applies retention. */
async function pruneAfterDays(days: number): Promise<void> {
  const by = `- interval '${String(days)} days'`;
  const shift = (table: string, ...columns: readonly string[]) =>
    `update holdfast.${table} set ${columns.map((column) => `${column} = ${column} ${by}`).join(', ')};`;
  await test.database.execute(
    [
      shift('jobs', 'created_at', 'claimed_at', 'started_at', 'finished_at'),
      shift('job_history', 'created_at', 'claimed_at', 'started_at', 'finished_at'),
      shift('batches', 'created_at', 'finished_at'),
      shift('job_dependencies', 'created_at'),
    ].join(' '),
  );
  await prune(test.database, defaultRetention);
}

async function rowCounts(): Promise<Readonly<Record<string, number>>> {
  const tables = ['batches', 'batch_callbacks', 'job_dependencies', 'job_endings', 'job_history'];
  const counts = tables.map(
    (table) => `(select count(*)::integer from holdfast.${table}) as ${table}`,
  );
  const [row] = await test.database.query<Readonly<Record<string, number>>>({
    name: 'test_count_batch_rows',
    text: `select ${counts.join(', ')}`,
  });
  return row ?? {};
}

const graph = () => ({
  jobs: [kit.job('a'), kit.job('b')],
  dependencies: [kit.edge('a', 'b')],
  callbacks: [kit.callback('then')],
});

describe('retention', () => {
  it('removes a batch, its callbacks and its edges with the history of its jobs', async () => {
    await kit.make('graph', graph());
    await kit.run();
    await pruneAfterDays(6);
    const all = { batches: 1, batch_callbacks: 1, job_dependencies: 1, job_history: 3 };
    expect(await rowCounts()).toMatchObject(all);
    await pruneAfterDays(2);
    expect(await rowCounts()).toMatchObject({
      batches: 0,
      batch_callbacks: 0,
      job_dependencies: 1,
    });
    await pruneAfterDays(100);
    const none = { batches: 0, batch_callbacks: 0, job_dependencies: 0, job_history: 0 };
    expect(await rowCounts()).toEqual({ ...none, job_endings: 0 });
  });

  it('keeps a batch as long as one of its jobs can be replayed', async () => {
    await kit.make('graph', graph());
    await kit.run('a');
    await pruneAfterDays(30);
    expect(await kit.read()).toMatchObject({ status: 'dead_letter' });
    await replayJob(test.database, kit.key('a'));
    expect(await kit.run()).toEqual(['a', 'b', 'then']);
    expect(await kit.read()).toMatchObject({ status: 'completed' });
  });

  it('keeps an open batch, however old it is', async () => {
    await kit.make('graph', graph());
    await pruneAfterDays(400);
    expect(await kit.run()).toEqual(['a', 'b', 'then']);
  });

  it('keeps an outer batch as long as an inner one', async () => {
    const inner = { id: kit.id('inner'), kind: 'batch' as const, jobs: [kit.job('x')] };
    await kit.make('batch', { batches: [inner] });
    await kit.run('x');
    await pruneAfterDays(30);
    await replayJob(test.database, kit.key('x'));
    await kit.run();
    expect(await kit.read()).toMatchObject({ status: 'completed', counts: { completed: 1 } });
  });
});
