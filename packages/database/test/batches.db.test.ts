import {
  cancelJob,
  addToBatch,
  cancelBatch,
  createBatch,
  listBatchDependencies,
  listParents,
  readBatch,
  replayJob,
  retryFailedOfBatch,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onlyRow, statusOf, takeSnapshot } from './support/job-snapshot.ts';
import { runJobs, settleAll } from './support/run-jobs.ts';
import type { ClaimedJob, NewBatch, NewCallback, NewJob } from '@holdfast/database';
import type { BatchKind, CallbackRole, OnParentFailure } from '@holdfast/domain';
import type { TestDatabase } from '@holdfast/testing';
import type { Ending } from './support/run-jobs.ts';

let test: TestDatabase;
let projectId: string;
let round = 0;
/** Ids by the names of this test's jobs. */
let ids: Map<string, string>;

beforeAll(async () => {
  test = await createTestDatabase();
  ({ projectId } = await createJobFactory(test.database));
});
afterAll(async () => {
  await test.drop();
});
beforeEach(() => {
  round += 1;
  ids = new Map();
});

const typeOf = (name: string) => `${name}.${String(round)}`;
const nameOf = (type: string) => type.split('.')[0] ?? '';

function id(name: string): string {
  const known = ids.get(name) ?? uuidV7(Date.now());
  ids.set(name, known);
  return known;
}

function job(name: string, more: Partial<NewJob> = {}): NewJob {
  return { id: id(name), queue: 'batches', type: typeOf(name), payloadJson: '{}', ...more };
}

function callback(role: CallbackRole, percent?: number): NewCallback {
  const name = percent === undefined ? role : `${role}${String(percent)}`;
  const template = { type: typeOf(name), queue: 'batches', payload: { role } };
  return { role, percent, jobId: id(name), job: template };
}

const edge = (parent: string, child: string, onFailure: OnParentFailure = 'cancel') => ({
  parentId: id(parent),
  childId: id(child),
  onFailure,
});

async function make(
  kind: BatchKind,
  { parentId, ...more }: Partial<NewBatch> & { readonly parentId?: string },
  name = 'self',
): Promise<void> {
  const batch: NewBatch = { id: id(name), kind, jobs: [], ...more };
  await createBatch(test.database, { projectId, batch, parentId });
}

const allVerdicts = () => (['then', 'catch', 'finally'] as const).map((role) => callback(role));

/** Works what is due; the named jobs die. Answers the names in the order in which they ran. */
async function run(...dying: readonly string[]): Promise<readonly string[]> {
  const types = [...ids.keys()].map(typeOf);
  const ending = ({ type }: ClaimedJob): Ending =>
    dying.includes(nameOf(type)) ? 'die' : 'complete';
  return (await runJobs(test.database, { projectId, types, ending })).map(nameOf);
}

const statusOfJob = (name: string) => statusOf(test.database, { projectId, id: id(name) });
const batchNow = (name = 'self') => readBatch(test.database, { projectId, id: id(name) });

describe('a batch', () => {
  it('calls then, and finally after it, when all members completed', async () => {
    await make('batch', { jobs: [job('a'), job('b')], callbacks: allVerdicts() });
    expect(await run()).toEqual(['a', 'b', 'then', 'finally']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    expect((await batchNow())?.finishedAt).toBeInstanceOf(Date);
  });

  it('calls catch at the first dead letter, and finally when the rest has ended', async () => {
    const late = job('late', { delayMs: 3_600_000 });
    await make('batch', { jobs: [job('a'), job('b'), late], callbacks: allVerdicts() });
    expect(await run('a', 'b')).toEqual(['a', 'b', 'catch']);
    expect(await batchNow()).toMatchObject({ status: 'running', counts: { deadLetter: 2 } });
    await test.database.execute(
      `update holdfast.jobs set status = 'queued', seq = nextval('holdfast.job_seq') where id = '${id('late')}'`,
    );
    expect(await run()).toEqual(['late', 'finally']);
    expect(await batchNow()).toMatchObject({ status: 'dead_letter' });
  });

  it('calls then in spite of dead members when failures are allowed', async () => {
    const jobs = [job('a'), job('b')];
    await make('batch', { jobs, callbacks: allVerdicts(), allowFailures: true });
    expect(await run('a')).toEqual(['a', 'b', 'catch', 'then', 'finally']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { deadLetter: 1 } });
  });

  it('calls then and finally at once when it is empty', async () => {
    await make('batch', { callbacks: allVerdicts() });
    expect(await run()).toEqual(['finally', 'then']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { total: 0 } });
  });

  it('reports progress at the shares that were asked for', async () => {
    const jobs = ['a', 'b', 'c', 'd'].map((name) => job(name));
    const callbacks = [25, 50, 75].map((percent) => callback('progress', percent));
    await make('batch', { jobs, callbacks });
    const ran = await run();
    expect(ran.slice(4)).toEqual(['progress25', 'progress50', 'progress75']);
  });

  it('is made once when the call is repeated', async () => {
    const batch: NewBatch = {
      ...{ id: id('self'), kind: 'batch' as const, jobs: [job('a')] },
      callbacks: [callback('then')],
    };
    const request = { projectId, batch };
    expect(await createBatch(test.database, request)).toMatchObject({ isNew: true });
    expect(await run()).toEqual(['a', 'then']);
    expect(await createBatch(test.database, request)).toMatchObject({ isNew: false });
    expect(await run()).toEqual([]);
    expect(await batchNow()).toMatchObject({ counts: { total: 1, completed: 1 } });
  });

  it('is refused when batches in it have no end, or are too many levels deep', async () => {
    const inner: NewBatch[] = [];
    const circular: NewBatch = { id: id('self'), kind: 'batch', jobs: [], batches: inner };
    inner.push(circular, circular);
    let deep: NewBatch = { id: id('innermost'), kind: 'batch', jobs: [] };
    for (let depth = 2; depth <= 20_000; depth += 1) {
      deep = { id: id(`level${String(depth)}`), kind: 'batch', jobs: [], batches: [deep] };
    }
    for (const batch of [circular, deep]) {
      const made = createBatch(test.database, { projectId, batch });
      await expect(made).rejects.toMatchObject({ code: 'batch_too_deep' });
    }
    expect(await batchNow()).toBeUndefined();
  });

  it('is made with the caller’s transaction or not at all', async () => {
    const batch: NewBatch = { id: id('self'), kind: 'batch', jobs: [job('a')] };
    const failing = test.database.transaction(async (tx) => {
      await createBatch(test.database, { projectId, batch, tx });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await batchNow()).toBeUndefined();
    expect(await statusOfJob('a')).toBe('absent');
  });

  it('takes more members until it has finished', async () => {
    await make('batch', { jobs: [job('a')], callbacks: allVerdicts() });
    const add = (name: string) =>
      addToBatch(test.database, { projectId, id: id('self'), jobs: [job(name)] });
    expect(await add('b')).toMatchObject({ isNew: true });
    expect(await add('b')).toMatchObject({ isNew: false });
    expect(await run()).toEqual(['a', 'b', 'then', 'finally']);
    expect(await batchNow()).toMatchObject({ counts: { total: 2, completed: 2 } });
    await expect(add('c')).rejects.toMatchObject({ code: 'batch_not_open' });
    expect(await statusOfJob('c')).toBe('absent');
    const nobody = addToBatch(test.database, { projectId, id: id('other'), jobs: [job('c')] });
    await expect(nobody).rejects.toMatchObject({ code: 'batch_not_found' });
  });

  it('opens again when a dead member is replayed, and calls no callback twice', async () => {
    await make('batch', { jobs: [job('a'), job('b')], callbacks: allVerdicts() });
    expect(await run('a')).toEqual(['a', 'b', 'catch', 'finally']);
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await batchNow()).toMatchObject({ status: 'running', counts: { deadLetter: 0 } });
    expect(await run('a')).toEqual(['a']);
    expect(await batchNow()).toMatchObject({ status: 'dead_letter' });
    await retryFailedOfBatch(test.database, { projectId, id: id('self') });
    expect(await run()).toEqual(['a', 'then']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  });

  it('counts right when a member is replayed before its death was settled', async () => {
    await make('batch', { jobs: [job('a')], callbacks: [callback('then')] });
    const types = [typeOf('a')];
    await runOnce(types, 'die');
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await run()).toEqual(['a', 'then']);
    expect(await batchNow()).toMatchObject({ counts: { completed: 1, deadLetter: 0 } });
  });

  it('is cancelled as a whole: members end, finally comes, then and catch do not', async () => {
    await make('batch', { jobs: [job('a'), job('b')], callbacks: allVerdicts() });
    const key = { projectId, id: id('self'), reason: 'changed_mind' };
    expect(await cancelBatch(test.database, key)).toMatchObject({ cancelledCount: 2 });
    expect(await run()).toEqual(['finally']);
    expect(await batchNow()).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
    expect(await cancelBatch(test.database, key)).toMatchObject({ cancelled: false });
  });

  it('ends as a member of another batch, and opens that again when it is opened', async () => {
    await make('batch', { jobs: [job('a')], callbacks: [callback('then')] }, 'outer');
    const inner = { jobs: [job('x')], parentId: id('outer'), callbacks: [callback('finally')] };
    await make('batch', inner, 'inner');
    expect(await run('x')).toEqual(['a', 'x', 'finally']);
    expect(await batchNow('outer')).toMatchObject({ status: 'dead_letter', counts: { total: 2 } });
    await replayJob(test.database, { projectId, id: id('x') });
    expect(await batchNow('outer')).toMatchObject({ status: 'running', counts: { deadLetter: 0 } });
    expect(await run()).toEqual(['x', 'then']);
    expect(await batchNow('outer')).toMatchObject({
      status: 'completed',
      counts: { completed: 2 },
    });
  });
});

/** Ends what is due without settling it. */
async function runOnce(types: readonly string[], ending: Ending): Promise<void> {
  await runJobs(test.database, { projectId, types, ending: () => ending, settles: false });
}

describe('a chain', () => {
  const chain = (callbacks = [callback('catch')]) =>
    make('chain', {
      jobs: [job('a'), job('b'), job('c')],
      dependencies: [edge('a', 'b'), edge('b', 'c')],
      callbacks,
    });

  it('runs its jobs one after the other, each with what its parent left', async () => {
    await chain();
    expect(await statusOfJob('b')).toBe('scheduled');
    expect(await run()).toEqual(['a', 'b', 'c']);
    expect(await listParents(test.database, { projectId, id: id('c') })).toEqual([
      {
        ...{ id: id('b'), type: typeOf('b'), status: 'completed', state: 'satisfied' },
        result: `${typeOf('b')} done`,
      },
    ]);
    expect(await batchNow()).toMatchObject({ kind: 'chain', status: 'completed' });
  });

  it('cancels what follows a dead link, names it, and calls catch', async () => {
    await chain();
    expect(await run('a')).toEqual(['a', 'catch']);
    for (const name of ['b', 'c']) {
      const row = onlyRow(await takeSnapshot(test.database, { projectId, id: id(name) }));
      expect(row).toMatchObject({ status: 'cancelled', reason: 'parent_failed' });
    }
    const row = onlyRow(await takeSnapshot(test.database, { projectId, id: id('b') }));
    expect(JSON.stringify(row['last_error'])).toContain(id('a'));
    expect(await batchNow()).toMatchObject({ status: 'dead_letter', counts: { cancelled: 2 } });
  });

  it('revives exactly what a dead link had cancelled when that is replayed', async () => {
    await chain();
    await run('a');
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await statusOfJob('c')).toBe('scheduled');
    expect(await batchNow()).toMatchObject({ status: 'running', counts: { cancelled: 0 } });
    expect(await run()).toEqual(['a', 'b', 'c']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });

  it('revives rightly when the replay comes between two settlings', async () => {
    await chain();
    await runOnce([typeOf('a')], 'die');
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await run()).toEqual(['a', 'b', 'c']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });

  it('lets a link wait its own delay after its parent', async () => {
    await make('chain', {
      jobs: [job('a'), job('b', { delayMs: 3_600_000 })],
      dependencies: [edge('a', 'b')],
    });
    expect(await run()).toEqual(['a']);
    const row = onlyRow(await takeSnapshot(test.database, { projectId, id: id('b') }));
    expect(row).toMatchObject({ status: 'scheduled', pending_parents: 0 });
    expect(Date.parse(row.run_at)).toBeGreaterThan(Date.now() + 3_000_000);
  });
});

describe('a graph', () => {
  it('runs a job when the last of its parents has completed', async () => {
    await make('graph', {
      jobs: [job('a'), job('b'), job('c'), job('d')],
      dependencies: [edge('a', 'c'), edge('b', 'c'), edge('a', 'd'), edge('c', 'd')],
    });
    expect(await run()).toEqual(['a', 'b', 'c', 'd']);
    const edges = await listBatchDependencies(test.database, { projectId, id: id('self') });
    expect(edges.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'satisfied'));
  });

  it('goes by the policy of each edge when a parent dies', async () => {
    await make('graph', {
      jobs: [job('a'), job('cancelled'), job('ran'), job('waiting')],
      dependencies: [
        edge('a', 'cancelled', 'cancel'),
        edge('a', 'ran', 'run'),
        edge('a', 'waiting', 'wait'),
      ],
    });
    expect(await run('a')).toEqual(['a', 'ran']);
    expect(await statusOfJob('cancelled')).toBe('cancelled');
    expect(await statusOfJob('waiting')).toBe('scheduled');
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await run()).toEqual(['a', 'cancelled', 'waiting']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { completed: 4 } });
  });

  it('cancels a job once when two of its parents die, and revives it when both are replayed', async () => {
    await make('graph', {
      jobs: [job('a'), job('b'), job('c')],
      dependencies: [edge('a', 'c'), edge('b', 'c')],
    });
    expect(await run('a', 'b')).toEqual(['a', 'b']);
    expect(await batchNow()).toMatchObject({ counts: { cancelled: 1, deadLetter: 2 } });
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await run()).toEqual(['a']);
    expect(await statusOfJob('c')).toBe('cancelled');
    await replayJob(test.database, { projectId, id: id('b') });
    expect(await run()).toEqual(['b', 'c']);
    expect(await batchNow()).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });

  it('keeps a job cancelled, and what is below it, of which a person has cancelled another parent', async () => {
    await make('graph', {
      jobs: [job('a'), job('b'), job('c'), job('d'), job('e')],
      dependencies: [
        edge('a', 'c'),
        edge('b', 'c'),
        edge('c', 'd'),
        edge('a', 'd'),
        edge('a', 'e'),
      ],
    });
    await cancelJob(test.database, { projectId, id: id('b'), reason: 'asked' });
    expect(await run('a')).toEqual(['a']);
    await replayJob(test.database, { projectId, id: id('a') });
    expect(await run()).toEqual(['a', 'e']);
    expect(await batchNow()).toMatchObject({
      ...{ status: 'cancelled', counts: { completed: 2, cancelled: 3 } },
    });
  });

  it('leaves nothing to settle behind', async () => {
    await settleAll(test.database);
    const [row] = await test.database.query<{ count: number }>({
      name: 'test_count_endings',
      text: 'select count(*)::integer as count from holdfast.job_endings',
    });
    expect(row?.count).toBe(0);
  });
});
