import {
  addToBatch,
  createBatch,
  foreignQueryable,
  listBatchDependencies,
  statements,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBatchKit } from './support/batch-kit.ts';
import type { Queryable } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';
import type { BatchKit } from './support/batch-kit.ts';

let test: TestDatabase;
let projectId: string;
let client: pg.Client;
let kit: BatchKit;
/** Types of the columns that came back. */
const columnTypes = new Set<number>();

// Plain numbers, as the driver reports them.
const uuidType: number = pg.types.builtins.UUID;
const textType: number = pg.types.builtins.TEXT;
const booleanType: number = pg.types.builtins.BOOL;
const integerType: number = pg.types.builtins.INT4;

beforeAll(async () => {
  test = await createTestDatabase();
  ({ projectId } = await createJobFactory(test.database));
  client = new pg.Client({ connectionString: test.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await test.drop();
});
beforeEach(() => {
  kit = createBatchKit(test.database, projectId);
});

/** A session in which every parameter is declared as text, as some libraries do. */
function foreign(): Queryable {
  const connection = {
    async query(text: string, values: readonly (string | null)[]) {
      const { rows, fields } = await client.query<Record<string, unknown>>({
        ...{ text, values: [...values] },
        types: { getTypeParser: () => String },
      });
      for (const { dataTypeID } of fields) columnTypes.add(dataTypeID);
      return rows.map((row) => Object.fromEntries(fields.map((f) => [f.name, read(row, f)])));
    },
  };
  return foreignQueryable(connection, 'holdfast');
}

function read(row: Record<string, unknown>, { name, dataTypeID }: pg.FieldDef): unknown {
  const text = row[name];
  if (typeof text !== 'string') return text;
  if (dataTypeID === booleanType) return text === 't';
  return dataTypeID === integerType ? Number(text) : text;
}

async function inTransaction<Result>(run: (tx: Queryable) => Promise<Result>): Promise<Result> {
  await client.query('begin');
  const result = await run(foreign());
  await client.query('commit');
  return result;
}

describe('in a transaction of another library', () => {
  it('a batch with everything in it is made, and added to', async () => {
    const inner = { id: kit.id('inner'), kind: 'batch' as const, jobs: [] };
    const batch = {
      ...{ id: kit.id('self'), kind: 'graph' as const, name: 'all', batches: [inner] },
      jobs: [kit.job('a'), kit.job('b', { delayMs: 1 }), kit.job('c', { tags: ['x'] })],
      dependencies: [kit.edge('a', 'b')],
      callbacks: [kit.callback('then'), kit.callback('finally')],
    };
    await inTransaction((tx) =>
      createBatch(test.database, { projectId, batch, tx, mayRepeat: true }),
    );
    const add = { ...kit.key(), jobs: [kit.job('d')] };
    await inTransaction((tx) => addToBatch(test.database, { ...add, tx }));
    const nested = { id: kit.id('nested'), kind: 'batch' as const, jobs: [kit.job('e')] };
    const parentId = kit.id('self');
    await inTransaction((tx) =>
      createBatch(test.database, { projectId, batch: nested, parentId, tx }),
    );
    expect(await kit.read()).toMatchObject({ counts: { total: 6, completed: 0 }, name: 'all' });
    expect(await listBatchDependencies(test.database, kit.key())).toHaveLength(1);
    const ran = await kit.run();
    expect([...ran].sort()).toEqual(['a', 'c', 'd', 'e']);
    expect(await kit.read()).toMatchObject({ status: 'running', counts: { completed: 5 } });
  });

  it('an empty batch calls its callbacks', async () => {
    const callbacks = [kit.callback('then'), kit.callback('finally')];
    const batch = { id: kit.id('self'), kind: 'batch' as const, jobs: [], callbacks };
    await inTransaction((tx) => createBatch(test.database, { projectId, batch, tx }));
    expect(await kit.run()).toEqual(['finally', 'then']);
  });

  it('nothing comes back but uuid, text, boolean and integer', () => {
    const known = [uuidType, textType, booleanType, integerType];
    expect([...columnTypes].filter((type) => !known.includes(type))).toEqual([]);
  });

  it.each(
    [
      statements.insertBatch,
      statements.insertBatchCallbacks,
      statements.insertDependencies,
      statements.lockOpenBatch,
      statements.findBatches,
      statements.findTakenIds,
      statements.abortTransaction,
      statements.findMembers,
      statements.findOuterDepth,
      statements.countKeptMembers,
      statements.renameCallbacks,
      statements.growBatch,
      statements.countBatchEnds,
      statements.listOpenCallbacks,
      statements.markCallbacksEnqueued,
      statements.markBatchesFinished,
      statements.reportBatchEnds,
      statements.announceEvents,
      statements.enqueueJobs,
      statements.scheduleJobs,
      statements.holdBackJobs,
      statements.findKnownJobs,
    ].map(({ name, text }) => [name, text] as const),
  )('%s says the type of every parameter', (_, text) => {
    expect(text.match(/\$\d+(?!\d|::)/g)).toBeNull();
  });
});
