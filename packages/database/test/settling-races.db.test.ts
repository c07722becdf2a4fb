import {
  addToBatch,
  cancelBatch,
  cancelJob,
  claimJobs,
  createBatch,
  finishJobs,
  listClaimableQueues,
  openDatabase,
  replayJob,
  settleEndings,
  statements,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBatchKit } from './support/batch-kit.ts';
import { openHandConnection, waitUntilSomeBlocked } from './support/hand-connection.ts';
import { beforeStatement, heldDatabase } from './support/held-database.ts';
import { settleAll } from './support/run-jobs.ts';
import type { ClaimedJob, Database } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';
import type { BatchKit } from './support/batch-kit.ts';
import type { HandConnection } from './support/hand-connection.ts';

let test: TestDatabase;
let database: Database;
let projectId: string;
let session: HandConnection;
let kit: BatchKit;

beforeEach(async () => {
  test = await createTestDatabase();
  ({ database } = test);
  ({ projectId } = await createJobFactory(database));
  session = await openHandConnection(test.url);
  kit = createBatchKit(database, projectId);
});
afterEach(async () => {
  await session.close();
  await test.drop();
});

const held = () => heldDatabase(database, session);

/** A job that waits for two others, of which `p` has died and `q` is done but not settled. */
async function halfDeadGraph(): Promise<void> {
  await kit.make('graph', {
    jobs: [kit.job('p'), kit.job('q'), kit.job('c')],
    dependencies: [kit.edge('p', 'c'), kit.edge('q', 'c')],
    callbacks: [kit.callback('then')],
  });
  await kit.end('die', 'p');
  await settleAll(database);
  expect(await kit.statusOf('c')).toBe('cancelled');
  await kit.end('complete', 'q');
}

describe('a settlement and a replay of the same graph', () => {
  it('count the other parent once when the settlement comes first', async () => {
    await halfDeadGraph();
    await settleEndings(held());
    const replay = replayJob(database, kit.key('p'));
    await waitUntilSomeBlocked(database);
    await session.run('commit');
    expect(await replay).toMatchObject({ done: true });
    expect(await kit.run()).toEqual(['p', 'c', 'then']);
    expect(await kit.read()).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });

  it('count the other parent once when the replay comes first', async () => {
    await halfDeadGraph();
    await replayJob(held(), kit.key('p'));
    expect(await settleEndings(database)).toMatchObject({ count: 0, isBlocked: true });
    await session.run('commit');
    expect(await kit.run()).toEqual(['p', 'c', 'then']);
    expect(await kit.read()).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });
});

describe('a long chain', () => {
  const names = Array.from({ length: 500 }, (_, index) => `link${String(index)}`);
  const make = () =>
    kit.make('chain', {
      jobs: names.map((name) => kit.job(name)),
      dependencies: names.slice(1).map((name, index) => kit.edge(`link${String(index)}`, name)),
    });
  const [first = '', second = ''] = names;

  it('is cancelled as a whole in one step behind a dead link, and revived in one', async () => {
    await make();
    await kit.end('die', first);
    await settleEndings(database);
    expect(await kit.statusOf(names.at(-1) ?? '')).toBe('cancelled');
    await settleAll(database);
    expect(await kit.read()).toMatchObject({ status: 'dead_letter', counts: { cancelled: 499 } });
    await replayJob(database, kit.key(first));
    expect(await kit.read()).toMatchObject({ status: 'running', counts: { cancelled: 0 } });
    await kit.end('complete', first);
    await settleAll(database);
    await kit.end('complete', second);
    await settleAll(database);
    expect(await kit.read()).toMatchObject({ counts: { completed: 2 } });
  });

  it('is revived rightly while the ends of what was cancelled are not counted yet', async () => {
    await make();
    await kit.end('die', first);
    expect(await settleEndings(database)).toMatchObject({ count: 1, more: true });
    await replayJob(database, kit.key(first));
    await settleAll(database);
    expect(await kit.read()).toMatchObject({
      ...{ status: 'running', counts: { deadLetter: 0, cancelled: 0 } },
    });
    expect(await kit.statusOf(names.at(-1) ?? '')).toBe('scheduled');
  });

  it('stays cancelled from the link on that a person had cancelled', async () => {
    await make();
    await cancelJob(database, { ...kit.key(second), reason: 'asked' });
    await kit.end('die', first);
    await settleAll(database);
    expect(await kit.read()).toMatchObject({ counts: { deadLetter: 1, cancelled: 499 } });
    await replayJob(database, kit.key(first));
    await kit.end('complete', first);
    await settleAll(database);
    expect(await kit.read()).toMatchObject({
      ...{ status: 'cancelled', counts: { completed: 1, cancelled: 499 } },
    });
  });
});

describe('a settler', () => {
  const twoBatches = async () => {
    for (const name of ['one', 'two']) {
      const jobs = [kit.job(`${name}a`), kit.job(`${name}b`)];
      await kit.make('batch', { jobs, callbacks: [kit.callback('then', `${name}then`)] }, name);
    }
    await kit.end('complete', 'onea', 'oneb', 'twoa', 'twob');
  };

  it('does not wait for another one, and leaves it what it holds', async () => {
    await kit.make('batch', { jobs: [kit.job('a'), kit.job('b')] });
    await kit.end('complete', 'a');
    expect(await settleEndings(held())).toMatchObject({ count: 1, isBlocked: false });
    await kit.end('complete', 'b');
    expect(await settleEndings(database)).toMatchObject({ count: 0, isBlocked: true });
    await session.run('commit');
    expect(await settleEndings(database)).toMatchObject({ count: 1, isBlocked: false });
    expect(await kit.read()).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  });

  it('goes on with the other batches while a program’s open transaction adds to one', async () => {
    await kit.make('batch', { jobs: [kit.job('a')] }, 'open');
    await session.run('begin');
    const add = { ...kit.key('open'), jobs: [kit.job('b')], tx: session };
    await addToBatch(database, add);
    await kit.end('complete', 'a');
    await twoBatches();
    // A page that holds nothing but what is locked must not hide what comes behind it.
    expect(await settleEndings(database, 1)).toMatchObject({ count: 1, isBlocked: true });
    expect(await kit.run()).toEqual(['onethen', 'twothen']);
    expect(await kit.read('open')).toMatchObject({ counts: { completed: 0 } });
    await session.run('commit');
    expect(await kit.run()).toEqual(['b']);
    expect(await kit.read('open')).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  });

  it('leaves a job that somebody has locked, and the parents that it waits for, until later', async () => {
    await kit.make('chain', {
      jobs: [kit.job('a'), kit.job('b')],
      dependencies: [kit.edge('a', 'b')],
    });
    await kit.end('complete', 'a');
    await session.run('begin');
    await session.run(`select from holdfast.jobs where id = '${kit.id('b')}' for update`);
    expect(await settleEndings(database)).toMatchObject({ count: 0, isBlocked: true });
    await session.run('commit');
    expect(await kit.run()).toEqual(['b']);
    expect(await kit.read()).toMatchObject({ status: 'completed' });
  });

  it('leaves nothing half done when it is killed before its commit', async () => {
    await twoBatches();
    const victim = await openHandConnection(test.url);
    expect(await settleEndings(heldDatabase(database, victim))).toMatchObject({ count: 4 });
    await victim.close();
    expect(await kit.run()).toEqual(['onethen', 'twothen']);
    for (const name of ['one', 'two']) {
      expect(await kit.read(name)).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    }
  });

  it('puts aside what cannot be settled, says so, and settles everything else', async () => {
    await twoBatches();
    await database.execute(
      `alter table holdfast.jobs add constraint jobs_refused check (id <> '${kit.id('onethen')}')`,
    );
    const settled = await settleEndings(database);
    expect(settled).toMatchObject({ count: 3, failures: [{ batchId: kit.id('one') }] });
    expect(settled.failures).toHaveLength(1);
    expect(await kit.read('two')).toMatchObject({ status: 'completed' });
    expect(await settleEndings(database)).toMatchObject({ count: 0, failures: [] });
    expect(await kit.run()).toEqual(['twothen']);

    await database.execute('alter table holdfast.jobs drop constraint jobs_refused');
    const other = openDatabase({ connectionString: test.url });
    expect(await settleEndings(other)).toMatchObject({ count: 1, failures: [] });
    await other.close();
    expect(await kit.read('one')).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    expect(await kit.statusOf('onethen')).toBe('queued');
  });

  it('does without a batch whose row is gone', async () => {
    await kit.make('chain', {
      jobs: [kit.job('a'), kit.job('b'), kit.job('c')],
      dependencies: [kit.edge('a', 'b'), kit.edge('b', 'c')],
    });
    await database.execute('delete from holdfast.batches');
    expect(await kit.run('b')).toEqual(['a', 'b']);
    expect(await kit.statusOf('c')).toBe('cancelled');
    await replayJob(database, kit.key('b'));
    expect(await kit.run()).toEqual(['b', 'c']);
  });

  it('needs one connection, also for a callback in a queue that does not exist any more', async () => {
    await kit.make('batch', { jobs: [kit.job('a')], callbacks: [kit.callback('then')] });
    await database.execute(
      `update holdfast.batch_callbacks set job = job || '{"queue":"brand-new"}'`,
    );
    await kit.end('complete', 'a');
    const narrow = openDatabase({ connectionString: test.url, poolSize: 1 });
    expect(await settleEndings(narrow)).toMatchObject({ count: 1, failures: [] });
    await narrow.close();
    expect(await kit.statusOf('then')).toBe('queued');
  });
});

describe('a batch', () => {
  it('is not made around a job that exists already', async () => {
    await kit.make('batch', { jobs: [kit.job('a')] }, 'first');
    await expect(kit.make('batch', { jobs: [kit.job('a')] }, 'second')).rejects.toMatchObject({
      code: 'batch_member_exists',
    });
    expect(await kit.read('second')).toBeUndefined();
  });

  it('accepts an addition that is repeated after it has finished', async () => {
    await kit.make('batch', { jobs: [kit.job('a')] });
    const add = { ...kit.key(), jobs: [kit.job('b')] };
    await addToBatch(database, add);
    await kit.run();
    expect(await addToBatch(database, add)).toMatchObject({ isNew: false });
    expect(await kit.read()).toMatchObject({ counts: { total: 2, completed: 2 } });
  });

  it('is made once inside another one, also when that has finished before the call is repeated', async () => {
    await kit.make('batch', { jobs: [kit.job('a')] }, 'outer');
    const batch = { id: kit.id('inner'), kind: 'batch' as const, jobs: [kit.job('b')] };
    const request = { projectId, batch, parentId: kit.id('outer') };
    await createBatch(database, request);
    await kit.run();
    expect(await createBatch(database, request)).toMatchObject({ isNew: false });
    expect(await kit.read('outer')).toMatchObject({ status: 'completed', counts: { total: 2 } });
  });

  it('may hold nothing but other batches, empty ones too', async () => {
    const inner = [
      { id: kit.id('x'), kind: 'batch' as const, jobs: [] },
      { id: kit.id('y'), kind: 'chain' as const, jobs: [kit.job('b')] },
    ];
    await kit.make('batch', { batches: inner, callbacks: [kit.callback('then')] });
    expect(await kit.read()).toMatchObject({ status: 'running', counts: { total: 2 } });
    expect(await kit.run()).toEqual(['b', 'then']);
    expect(await kit.read()).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  });

  it('asks the worker for a member that is claimed while it is cancelled', async () => {
    await kit.make('batch', { jobs: [kit.job('a'), kit.job('b')] });
    let claimed: readonly ClaimedJob[] = [];
    const racing = beforeStatement(database, statements.cancelJobs, async () => {
      claimed = await claim('a');
    });
    const cancelled = await cancelBatch(racing, { ...kit.key(), reason: 'asked' });
    expect(cancelled).toMatchObject({ cancelled: true, cancelledCount: 1 });
    expect(cancelled.requestedOf).toHaveLength(1);
    const decision = { transition: 'abandon_jobs', executionStatus: 'cancelled' } as const;
    const jobs = claimed.map(({ id, leaseToken: token }) => ({
      ...{ id, token, executionSeq: 1, decision, startedAgoMs: 2, finishedAgoMs: 1 },
    }));
    await finishJobs(database, { projectId, transition: 'abandon_jobs', jobs });
    await settleAll(database);
    expect(await kit.read()).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
  });

  it('counts a member that was cancelled while it was settled', async () => {
    await kit.make('batch', { jobs: [kit.job('a'), kit.job('b')] });
    await kit.end('complete', 'a');
    await settleEndings(held());
    expect(await cancelJob(database, { ...kit.key('b'), reason: 'asked' })).toMatchObject({
      cancelled: true,
    });
    await session.run('commit');
    await settleAll(database);
    expect(await kit.read()).toMatchObject({
      ...{ status: 'cancelled', counts: { completed: 1, cancelled: 1 } },
    });
  });
});

async function claim(name: string): Promise<readonly ClaimedJob[]> {
  const lane = database.openLane('claims');
  const queues = await listClaimableQueues(database, { projectId, names: undefined });
  return claimJobs(lane, {
    ...{ projectId, types: [kit.job(name).type], limit: 10, suspectLimit: 0, leaseMs: 60_000 },
    ...{ workerId: randomUUID(), leaseToken: randomUUID() },
    lanes: queues.map(({ id }) => ({ queueId: id, priority: 5, afterSeq: '0' })),
  });
}
