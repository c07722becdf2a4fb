import { cancelJob, readJob, replayJob, runJobNow } from '@holdfast/database';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitUntilSomeBlocked } from './support/hand-connection.ts';
import { takeSnapshot } from './support/job-snapshot.ts';
import { createRace } from './support/race.ts';
import { settleAll } from './support/run-jobs.ts';
import {
  asForeign,
  byHand,
  endings,
  enqueueOne,
  forgetJobs,
  uniqueJob,
} from './support/unique-jobs.ts';
import type { UniqueJob } from '@holdfast/database';
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

const unique = { key: 'a', onConflict: 'queue_latest' } as const;
const key = (id: string) => ({ projectId: race.factory.projectId, id });
const latest = (payload: number, more: Partial<UniqueJob> = {}) =>
  enqueueOne(race, uniqueJob(unique, { payloadJson: String(payload), ...more }));
const read = (id: string) => readJob(race.database, key(id));

/** One that runs and the one behind it. */
async function runningAndNext() {
  const first = await latest(1);
  const held = await worker.start(first.id);
  const next = await latest(2);
  return { first, held, next };
}

describe('queue_latest', () => {
  it('gives a holder that has not started the newest content', async () => {
    const first = await latest(1);
    expect(await latest(2)).toMatchObject({ id: first.id, conflict: 'replaced' });
    expect(await read(first.id)).toMatchObject({ payload: 2 });
  });

  it('puts one job behind a holder that has started, which takes the newest content', async () => {
    const { first, next } = await runningAndNext();
    expect(next).toMatchObject({
      status: 'scheduled',
      isNew: true,
      deduplicated: false,
      conflict: 'queued_behind',
      holderId: first.id,
    });
    expect(await latest(3)).toMatchObject({ id: next.id, conflict: 'replaced' });
    expect(await read(next.id)).toMatchObject({ payload: 3, pending_parents: 1 });
    expect(await read(first.id)).toMatchObject({ payload: 1, status: 'running' });
    expect(await runJobNow(race.database, key(next.id))).toMatchObject({ done: false });
  });

  it.each(['complete', 'deadLetter'] as const)('starts the next one after %s', async (how) => {
    const { held, next } = await runningAndNext();
    await worker.finish(held, endings[how]);
    await settleAll(race.database);
    expect(await read(next.id)).toMatchObject({ status: 'queued', pending_parents: 0 });
    // It is the holder now, and is replaced until it starts.
    expect(await latest(3)).toMatchObject({ id: next.id, conflict: 'replaced' });
    await worker.start(next.id);
    expect(await latest(4)).toMatchObject({ conflict: 'queued_behind', holderId: next.id });
  });

  it.each(['retry', 'drain', 'release', 'fail'] as const)(
    'leaves the next one waiting after %s of the holder',
    async (how) => {
      const { first, held, next } = await runningAndNext();
      await worker.finish(held, endings[how]);
      await settleAll(race.database);
      expect(await read(next.id)).toMatchObject({ status: 'scheduled', pending_parents: 1 });
      expect(await latest(3)).toMatchObject({ id: next.id, conflict: 'replaced' });
      expect((await read(first.id))?.payload).toBe(1);
    },
  );

  it('starts the next one after a holder was cancelled that waited for its retry', async () => {
    const { first, held, next } = await runningAndNext();
    await worker.finish(held, endings.retry);
    await cancelJob(race.database, { ...key(first.id), reason: 'test' });
    await settleAll(race.database);
    expect(await read(next.id)).toMatchObject({ status: 'queued' });
  });

  it('lets another one wait when the next one was cancelled', async () => {
    const { first, held, next } = await runningAndNext();
    await cancelJob(race.database, { ...key(next.id), reason: 'test' });
    const other = await latest(3);
    expect(other).toMatchObject({ conflict: 'queued_behind', holderId: first.id });
    await worker.finish(held, endings.complete);
    await settleAll(race.database);
    expect(await read(other.id)).toMatchObject({ status: 'queued' });
  });

  it('counts the next one as holder before the end of the first one is settled', async () => {
    const { held, next } = await runningAndNext();
    await worker.finish(held, endings.complete);
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ id: next.id });
    expect(await latest(3)).toMatchObject({ id: next.id, conflict: 'replaced' });
    await settleAll(race.database);
    expect(await read(next.id)).toMatchObject({ status: 'queued', payload: 3 });
  });

  it('refuses to replay a holder whose follower has the key', async () => {
    const { first, held, next } = await runningAndNext();
    await worker.finish(held, endings.deadLetter);
    const refused = { done: false, reason: 'unique_key_held', holderId: next.id };
    expect(await replayJob(race.database, key(first.id))).toEqual(refused);
    await settleAll(race.database);
    expect(await replayJob(race.database, key(first.id))).toEqual(refused);
    await worker.run(next.id, endings.complete);
    expect(await replayJob(race.database, key(first.id))).toMatchObject({ done: true });
    expect(await latest(3)).toMatchObject({ id: first.id, conflict: 'replaced' });
  });

  it('keeps the delay of the next one until the holder has ended', async () => {
    const first = await latest(1);
    const held = await worker.start(first.id);
    const next = await latest(2, { delayMs: 3_600_000 });
    await worker.finish(held, endings.complete);
    await settleAll(race.database);
    const row = await read(next.id);
    expect(row).toMatchObject({ status: 'scheduled', pending_parents: 0 });
    expect(row?.run_at?.getTime()).toBeGreaterThan((row?.created_at.getTime() ?? 0) + 3_500_000);
  });

  it('waits for a holder that another mode inserted', async () => {
    const first = await enqueueOne(race, uniqueJob({ key: 'a' }));
    const held = await worker.start(first.id);
    const next = await latest(2);
    await worker.finish(held, endings.complete);
    await settleAll(race.database);
    expect(await read(next.id)).toMatchObject({ status: 'queued' });
  });

  it('lets the other modes keep the running holder', async () => {
    const { first, next } = await runningAndNext();
    for (const onConflict of ['keep', 'replace'] as const) {
      const outcome = await enqueueOne(race, uniqueJob({ key: 'a', onConflict }));
      expect(outcome).toMatchObject({ id: first.id, conflict: 'kept' });
    }
    expect(await read(next.id)).toMatchObject({ payload: 2 });
  });

  it('makes the end of a holder wait for the caller who queues behind it', async () => {
    const first = await latest(1);
    const held = await worker.start(first.id);
    await race.first.run('begin');
    const job = uniqueJob(unique);
    await enqueueOne(race, job, { tx: asForeign(race.first) });
    const ended = worker.finish(held, endings.complete);
    await waitUntilSomeBlocked(race.database);
    await race.commit();
    await ended;
    await settleAll(race.database);
    expect(await read(job.id)).toMatchObject({ status: 'queued' });
  });

  it('takes the key at once when the holder ended while it waited for its row', async () => {
    const first = await latest(1);
    const held = await worker.start(first.id);
    await race.hold(async (tx) => {
      await tx.query(
        { name: 'test_end', text: `delete from holdfast.jobs where id = $1 returning id` },
        [held.id],
      );
    });
    const job = uniqueJob(unique);
    const started = await race.startBlocked((second) => enqueueOne(race, job, { tx: second }));
    await race.commit();
    expect(await started.result).toMatchObject({ id: job.id, isNew: true, conflict: undefined });
    expect((await takeSnapshot(race.database, key(job.id))).jobs).toMatchObject([
      { status: 'queued', pending_parents: 0, has_children: true },
    ]);
  });
});
