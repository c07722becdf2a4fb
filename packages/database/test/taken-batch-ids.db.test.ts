import {
  addToBatch,
  cancelBatch,
  createBatch,
  enqueueJobs,
  readBatch,
  readJob,
  settleEndings,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBatchKit } from './support/batch-kit.ts';
import type { NewBatch } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';
import type { BatchKit } from './support/batch-kit.ts';

let test: TestDatabase;
let projectId: string;
let kit: BatchKit;

beforeAll(async () => {
  test = await createTestDatabase();
  ({ projectId } = await createJobFactory(test.database));
});
afterAll(async () => {
  await test.drop();
});
beforeEach(() => {
  kit = createBatchKit(test.database, projectId);
});

const refused = { code: 'batch_member_exists' };
const batchOf = (name: string, more: Partial<NewBatch> = {}): NewBatch => ({
  ...{ id: kit.id(name), kind: 'batch', jobs: [] },
  ...more,
});
const three = (name: string) =>
  batchOf(name, { jobs: ['j1', 'j2', 'j3'].map((id) => kit.job(id)) });
const add = (to: string, ...batches: readonly NewBatch[]) =>
  addToBatch(test.database, { ...kit.key(to), jobs: [], batches });
const create = (batch: NewBatch) => createBatch(test.database, { projectId, batch });

describe('an addition of a batch whose id is taken', () => {
  beforeEach(async () => {
    await kit.make('batch', { jobs: [kit.job('a')] }, 'outer');
  });

  it.each([
    ['an outermost batch', () => kit.make('batch', { jobs: [kit.job('j1')] }, 'x')],
    [
      'a member of another batch, with the same jobs',
      () => kit.make('batch', { batches: [three('x')] }, 'other'),
    ],
    [
      'a member of the batch, with fewer jobs',
      () => add('outer', batchOf('x', { jobs: [kit.job('j1')] })),
    ],
    [
      'a member of the batch, of another kind',
      () => add('outer', { ...three('x'), kind: 'chain' }),
    ],
    [
      'a member of the batch, where a callback has the id of a job',
      async () => {
        const jobs = [kit.job('j1'), kit.job('j2')];
        await add('outer', batchOf('x', { jobs, callbacks: [kit.callback('then', 'j3')] }));
        await kit.run();
      },
    ],
  ])('is refused, and nothing is written: %s', async (_, take) => {
    await add('outer', batchOf('open', { jobs: [kit.job('open', { delayMs: 3_600_000 })] }));
    await take();
    const before = await kit.read('outer');
    await expect(add('outer', three('x'))).rejects.toMatchObject(refused);
    expect(await kit.read('outer')).toEqual(before);
  });

  it('is refused when it is the batch itself', async () => {
    await expect(add('outer', three('outer'))).rejects.toMatchObject(refused);
    expect(await kit.read('outer')).toMatchObject({ counts: { total: 1 } });
  });

  it('is told that the batch was cancelled', async () => {
    await kit.make('batch', { jobs: [kit.job('j1')] }, 'x');
    await cancelBatch(test.database, { ...kit.key('outer'), reason: 'asked' });
    await expect(add('outer', three('x'))).rejects.toMatchObject({ code: 'batch_not_open' });
  });

  it('is no addition when it is the same, also when it has grown and retention took members', async () => {
    const callbacks = [kit.callback('then')];
    const inner = { ...three('x'), callbacks, batches: [batchOf('y', { jobs: [kit.job('k')] })] };
    expect(await add('outer', inner)).toMatchObject({ isNew: true });
    await addToBatch(test.database, { ...kit.key('x'), jobs: [kit.job('late')] });
    expect(await add('outer', inner)).toMatchObject({ isNew: false });
    await kit.run();
    expect(await add('outer', inner)).toMatchObject({ isNew: false });
    await test.database.execute(
      `delete from holdfast.job_history where id in ('${kit.id('j2')}', '${kit.id('k')}')`,
    );
    expect(await add('outer', inner)).toMatchObject({ isNew: false });
    expect(await kit.read('outer')).toMatchObject({ counts: { total: 2, completed: 2 } });
    const jobs = [...inner.jobs, kit.job('j4'), kit.job('j5')];
    await expect(add('outer', { ...inner, jobs })).rejects.toMatchObject({
      code: 'batch_not_open',
    });
  });
});

describe('a batch whose own id is taken', () => {
  it('is the same one when its members and callbacks are there', async () => {
    const batch = { ...three('x'), callbacks: [kit.callback('then')] };
    await create(batch);
    expect(await create(batch)).toMatchObject({ isNew: false });
    await kit.run();
    expect(await create(batch)).toMatchObject({ isNew: false });
  });

  it('is refused when it has other members, other callbacks or is in another batch', async () => {
    await create(three('x'));
    const more = batchOf('x', { jobs: [...three('x').jobs, kit.job('j4')] });
    await expect(create(more)).rejects.toMatchObject(refused);
    const called = { ...three('x'), callbacks: [kit.callback('then')] };
    await expect(create(called)).rejects.toMatchObject(refused);
    const deep = batchOf('y', { batches: [batchOf('z', { jobs: [kit.job('k')] })] });
    await create(deep);
    await expect(create(batchOf('z', { jobs: [kit.job('k')] }))).rejects.toMatchObject(refused);
    expect(await create(deep)).toMatchObject({ isNew: false });
    const other = batchOf('y', { batches: [batchOf('z', { jobs: [kit.job('l')] })] });
    await expect(create(other)).rejects.toMatchObject(refused);
  });
});

describe('a callback whose id is taken', () => {
  const stranger = (delayMs: number) => kit.job('stranger', { id: kit.id('then'), delayMs });

  it.each([
    ['waits', 3_600_000],
    ['has ended', 0],
  ])('runs once all the same, under a new id, when the other job %s', async (_, delayMs) => {
    const then = kit.callback('then');
    const job = { ...then.job, metadata: { for: 'people' } };
    const callbacks = [{ ...then, job }, kit.callback('finally')];
    await kit.make('batch', { jobs: [kit.job('a')], callbacks });
    // The stranger has a name, and so a type, of its own.
    kit.id('stranger');
    await enqueueJobs(test.database, { projectId, jobs: [stranger(delayMs)] });
    await kit.end('complete', 'stranger');
    await kit.end('complete', 'a');
    const settled = await settleEndings(test.database);
    const batchId = kit.id('self');
    const takenId = kit.id('then');
    const jobId = (await readBatch(test.database, kit.key()))?.callbacks.find(
      ({ role }) => role === 'then',
    )?.jobId;
    expect(jobId).not.toBe(takenId);
    expect(settled.renamed).toEqual([{ batchId, role: 'then', takenId, jobId }]);
    const made = await readJob(test.database, { projectId, id: jobId ?? '' });
    expect(made?.metadata).toEqual({ for: 'people', 'holdfast.takenId': takenId });
    expect(await kit.run()).toEqual(['then', 'finally']);
    expect(await kit.run()).toEqual([]);
    const view = await kit.read();
    expect(view).toMatchObject({ status: 'completed', counts: { total: 1, completed: 1 } });
    expect(view?.callbacks.every(({ endedAt }) => endedAt !== undefined)).toBe(true);
  });
});

describe('batches that are added to each other', () => {
  it('are at most 100 levels deep, and the one that is too deep is not written', async () => {
    const ids = Array.from({ length: 101 }, () => uuidV7(Date.now()));
    const at = (depth: number) => ({ id: ids[depth - 1] ?? '', kind: 'batch' as const });
    const grow = (depth: number) =>
      addToBatch(test.database, {
        ...{ projectId, id: at(depth - 1).id, jobs: [] },
        batches: [{ ...at(depth), jobs: [kit.job(`held${String(depth)}`)] }],
      });
    await create({ ...at(1), jobs: [kit.job('held1')] });
    for (let depth = 2; depth <= 99; depth += 1) await grow(depth);
    const two = { ...at(100), jobs: [], batches: [{ ...at(101), jobs: [kit.job('x')] }] };
    const tooDeep = { code: 'batch_too_deep' };
    const request = { projectId, id: at(99).id, jobs: [], batches: [two] };
    await expect(addToBatch(test.database, request)).rejects.toMatchObject(tooDeep);
    await grow(100);
    await expect(grow(101)).rejects.toMatchObject(tooDeep);
    expect(await readBatch(test.database, { projectId, id: at(101).id })).toBeUndefined();
    const innermost = await readBatch(test.database, { projectId, id: at(100).id });
    expect(innermost).toMatchObject({ counts: { total: 1 } });
    const jobs = [kit.job('last')];
    const last = await addToBatch(test.database, { projectId, id: at(100).id, jobs });
    expect(last).toMatchObject({ isNew: true });
  });
});
