import {
  cancelJob,
  createBatch,
  enqueueJobs,
  prune,
  defaultRetention,
  readJob,
  reapExpiredLeases,
  replayJob,
  uniqueDigest,
} from '@holdfast/database';
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { claimFrom, createRace, laneOf } from './support/race.ts';
import { settleAll } from './support/run-jobs.ts';
import {
  asForeign,
  byHand,
  endings,
  enqueueAll,
  enqueueOne,
  forgetJobs,
  uniqueJob,
} from './support/unique-jobs.ts';
import type { Race } from './support/race.ts';
import type { ByHand } from './support/unique-jobs.ts';

let race: Race;
let worker: ByHand;

beforeAll(async () => {
  race = await createRace();
  worker = byHand(race);
});
beforeEach(() => forgetJobs(race));
afterAll(async () => {
  await race.close();
});

const expireLeases = `update holdfast.jobs set lock_expires_at = now() where status = 'running'`;
const key = (id: string) => ({ projectId: race.factory.projectId, id });

describe('a caller that meets another one who has just taken the key', () => {
  it('waits for the other’s commit, and finds its job', async () => {
    const mine = uniqueJob({ key: 'a' });
    await race.hold((first) => enqueueOne(race, mine, { tx: first }));
    const started = await race.startBlocked((second) =>
      enqueueOne(race, uniqueJob({ key: 'a' }), { tx: second }),
    );
    await race.commit();
    expect(await started.result).toMatchObject({ id: mine.id, status: 'queued', conflict: 'kept' });
  });

  it('has the key when the other rolls back', async () => {
    await race.hold((first) => enqueueOne(race, uniqueJob({ key: 'a' }), { tx: first }));
    const started = await race.startBlocked((second) =>
      enqueueOne(race, uniqueJob({ key: 'a' }), { tx: second }),
    );
    await race.first.run('rollback');
    expect(await started.result).toMatchObject({ isNew: true });
  });

  it('finds it also where the key had been used before', async () => {
    const before = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await worker.run(before.id, endings.complete);
    const mine = uniqueJob({ key: 'a' });
    await race.hold((first) => enqueueOne(race, mine, { tx: first }));
    const started = await race.startBlocked((second) =>
      enqueueOne(race, uniqueJob({ key: 'a' }), { tx: second }),
    );
    await race.commit();
    expect(await started.result).toMatchObject({ id: mine.id });
  });
});

describe('a caller’s own transaction', () => {
  it('goes on after a conflict, whatever the connection is', async () => {
    const { id } = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await race.first.run('begin');
    await race.first.run('create table public.mine (n integer)');
    const tx = asForeign(race.first);
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }), { tx })).toMatchObject({ id });
    expect(await enqueueOne(race, uniqueJob({ key: 'b' }), { tx })).toMatchObject({ isNew: true });
    await race.first.run('insert into public.mine values (1)');
    await race.commit();
    expect(await enqueueOne(race, uniqueJob({ key: 'b' }))).toMatchObject({ isNew: false });
  });

  it('leaves nothing when it is rolled back', async () => {
    await race.first.run('begin');
    await enqueueOne(race, uniqueJob({ key: 'a' }), { tx: asForeign(race.first) });
    await race.first.run('rollback');
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ isNew: true });
  });

  it('may be repeatable read where nobody else wrote', async () => {
    const { id } = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await race.first.run('begin isolation level repeatable read');
    const tx = asForeign(race.first);
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }), { tx })).toMatchObject({ id });
    expect(await enqueueOne(race, uniqueJob({ key: 'b' }), { tx })).toMatchObject({ isNew: true });
    await race.commit();
  });
});

describe('bulk callers whose keys come in any order', () => {
  it('never lock each other out for good', async () => {
    const callers = await Promise.all(
      Array.from({ length: 4 }, () => openHandConnection(race.url, { kind: 'lane' })),
    );
    const keys = Array.from({ length: 20 }, (_, index) => `key-${String(index)}`);
    const work = callers.map(async (connection) => {
      for (let round = 0; round < 10; round += 1) {
        const shuffled = keys.toSorted(() => randomInt(3) - 1);
        const modes = ['keep', 'replace', 'queue_latest'] as const;
        const onConflict = modes[round % modes.length];
        await connection.run('begin');
        // Without the transaction that would try again after a deadlock.
        const jobs = shuffled.map((name) => uniqueJob({ key: name, onConflict }));
        await enqueueAll(race, jobs, { tx: connection });
        await connection.run('commit');
      }
      await connection.close();
    });
    await expect(Promise.all(work)).resolves.toBeDefined();
  });
});

describe('two jobs that were made with one key against the rule', () => {
  it('run, fail and are retried without an error for anybody', async () => {
    const { projectId } = race.factory;
    const digest = uniqueDigest({ scope: 'type', key: 'a', type: 'test.job', queue: 'unique' });
    const unique = { digest, scope: 'type', key: 'a', until: 'done' } as const;
    const [a, b] = [uniqueJob({ key: 'a' }), uniqueJob(undefined)];
    await enqueueOne(race, a);
    const held = await worker.start(a.id);
    await enqueueJobs(race.database, { projectId, jobs: [{ ...b, unique }] });
    await worker.finish(held, { ...endings.retry, delayMs: 0 });
    await race.database.execute(
      `update holdfast.jobs set status = 'queued', seq = 100 where status = 'scheduled'`,
    );
    await worker.run(b.id, endings.deadLetter);
    const again = await worker.start(a.id);
    await race.database.execute(expireLeases);
    await reapExpiredLeases(race.database, { leaseMs: 0 });
    expect(await readJob(race.database, key(again.id))).toMatchObject({ status: 'queued' });
    expect(await replayJob(race.database, key(b.id))).toMatchObject({ holderId: a.id });
  });
});

describe('a holder whose worker is dead', () => {
  it('has one job behind it at most, however often somebody asks', async () => {
    const unique = { key: 'a', onConflict: 'queue_latest' } as const;
    const first = await enqueueOne(race, uniqueJob(unique));
    await worker.start(first.id);
    await race.database.execute(expireLeases);
    for (let index = 0; index < 5; index += 1) await enqueueOne(race, uniqueJob(unique));
    await reapExpiredLeases(race.database, { leaseMs: 0 });
    await enqueueOne(race, uniqueJob(unique));
    const rows = await race.database.query<{ status: string }>({
      name: 'test_all_statuses',
      text: 'select status::text from holdfast.jobs order by pending_parents',
    });
    expect(rows).toEqual([{ status: 'queued' }, { status: 'scheduled' }]);
  });
});

describe('pruning', () => {
  const locks = async () => {
    const rows = await race.database.query<{ key: string }>({
      name: 'test_locks',
      text: 'select key from holdfast.unique_locks order by key',
    });
    return rows.map((row) => row.key);
  };
  const age = () =>
    race.database.execute(
      `update holdfast.unique_locks set acquired_at = acquired_at - interval '2 hours'`,
    );

  it('forgets the keys of jobs that are gone, and no others', async () => {
    const gone = await enqueueOne(race, uniqueJob({ key: 'gone' }));
    await worker.run(gone.id, endings.complete);
    const dead = await enqueueOne(race, uniqueJob({ key: 'dead' }));
    await worker.run(dead.id, endings.deadLetter);
    const timed = await enqueueOne(race, uniqueJob({ key: 'timed', until: 'ttl', ttlMs: 60_000 }));
    await worker.run(timed.id, endings.complete);
    await enqueueOne(race, uniqueJob({ key: 'live' }));
    await age();
    const fresh = await enqueueOne(race, uniqueJob({ key: 'fresh' }, { queue: 'other' }));
    await cancelJob(race.database, { ...key(fresh.id), reason: 'test' });
    await prune(race.database, defaultRetention);
    expect(await locks()).toEqual(['dead', 'fresh', 'live', 'timed']);
  });

  it('passes over a key that somebody is taking', async () => {
    const gone = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await worker.run(gone.id, endings.complete);
    await age();
    await race.hold((first) => enqueueOne(race, uniqueJob({ key: 'a' }), { tx: first }));
    await prune(race.database, defaultRetention);
    await race.commit();
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ isNew: false });
  });
});

describe('a replay of a parent', () => {
  it('leaves a child cancelled whose key another job has taken', async () => {
    const { projectId } = race.factory;
    const digest = uniqueDigest({ scope: 'type', key: 'a', type: 'test.child', queue: 'unique' });
    const unique = { digest, scope: 'type', key: 'a', until: 'done' } as const;
    const parent = { ...uniqueJob(undefined), unique: undefined };
    const child = { ...uniqueJob(undefined, { type: 'test.child' }), unique };
    await createBatch(race.database, {
      projectId,
      batch: {
        ...{ id: parent.id, kind: 'chain', allowFailures: false, callbacks: [] },
        jobs: [parent, child],
        dependencies: [{ parentId: parent.id, childId: child.id, onFailure: 'cancel' }],
      },
    });
    await worker.run(parent.id, endings.deadLetter);
    await settleAll(race.database);
    const other = await enqueueOne(race, uniqueJob({ key: 'a' }, { type: 'test.child' }));
    expect(other).toMatchObject({ isNew: true });
    expect(await replayJob(race.database, key(parent.id))).toMatchObject({ done: true });
    expect(await readJob(race.database, key(child.id))).toMatchObject({ status: 'cancelled' });
    await cancelJob(race.database, { ...key(other.id), reason: 'test' });
    await worker.run(parent.id, endings.deadLetter);
    await settleAll(race.database);
    await replayJob(race.database, key(parent.id));
    expect(await readJob(race.database, key(child.id))).toMatchObject({ status: 'scheduled' });
    const third = await enqueueOne(race, uniqueJob({ key: 'a' }, { type: 'test.child' }));
    expect(third).toMatchObject({ id: child.id });
  });
});

describe('a deduplicated job', () => {
  it('is announced where somebody subscribed', async () => {
    const unique = { key: 'a', onConflict: 'replace' } as const;
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await enqueueOne(race, uniqueJob(unique));
    await race.database.execute(
      `insert into holdfast.event_subscriptions (project_id, id, event)
       select id, id, 'JobDeduplicated' from holdfast.projects`,
    );
    await enqueueAll(race, [uniqueJob(unique), uniqueJob(unique)]);
    const rows = await race.database.query({
      name: 'test_events',
      text: 'select job_id, data from holdfast.events order by seq',
    });
    const event = { job_id: id, data: { type: 'test.job', queue: 'unique', reason: 'replaced' } };
    expect(rows).toEqual([event, event]);
  });
});

it('claims go on for a queue of jobs with keys', async () => {
  const { outcomes } = await enqueueAll(
    race,
    ['a', 'b', 'c'].map((name) => uniqueJob({ key: name })),
  );
  const [row] = await race.database.query<{ queue_id: string }>({
    name: 'test_queue',
    text: 'select queue_id from holdfast.jobs limit 1',
  });
  const lane = laneOf(race);
  const { projectId } = race.factory;
  const place = { projectId, queueId: row?.queue_id ?? '', type: 'test.job' };
  const claimed = await claimFrom(lane, place).finally(() => lane.close());
  expect(claimed.map(({ id }) => id)).toEqual(outcomes.map(({ id }) => id));
});
