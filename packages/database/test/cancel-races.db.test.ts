import { cancelJob, finishJobs, purgeQueue, statements } from '@holdfast/database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { asLane, claimFrom, createRace, idsOf, reap } from './support/race.ts';
import type { Queryable } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { LeasedJob, MadeJob } from '@holdfast/testing';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterEach(async () => {
  await race.first.run('rollback');
});
afterAll(async () => {
  await race.close();
});

const error = { code: 'handler_failed', message: 'No', fingerprint: 'test:no' };
const completing: Decision = { transition: 'complete_jobs', executionStatus: 'completed' };
const abandoning: Decision = { transition: 'abandon_jobs', executionStatus: 'cancelled', error };
/** The ends that a cancel request turns into a cancellation. */
const overruled: readonly Decision[] = [
  { transition: 'retry_jobs', executionStatus: 'failed', delayMs: 1_000, error },
  { transition: 'fail_jobs', executionStatus: 'failed', error },
  { transition: 'dead_letter_jobs', executionStatus: 'failed', error },
  { transition: 'release_jobs', executionStatus: 'released', delayMs: 1_000 },
  { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
];

function cancel(db: Queryable, { projectId, id }: MadeJob) {
  return cancelJob(db, { projectId, id, reason: 'changed_mind' });
}

async function finish(db: Queryable, job: LeasedJob, decision: Decision) {
  const { projectId, lease, executionSeq } = job;
  const jobs = [{ ...lease, executionSeq, startedAgoMs: 2, finishedAgoMs: 1, decision }];
  return finishJobs(db, { projectId, transition: decision.transition, jobs });
}

async function rowOf(job: MadeJob) {
  return onlyRow(await takeSnapshot(race.database, job));
}

describe('cancelling against completing', () => {
  it('a completion that comes first wins, and the cancel reports the state', async () => {
    const job = await race.factory.running();
    await race.hold((first) => finish(first, job, completing));
    const { result } = await race.startBlocked((second) => cancel(second, job));
    await race.commit();
    expect(await result).toEqual({
      cancelled: false,
      reason: 'not_in_state',
      status: 'completed',
    });
    expect(await rowOf(job)).toMatchObject({ status: 'completed', cancel_requested_at: null });
  });

  it('a completion that comes after the request still counts, and the request stays to be seen', async () => {
    const job = await race.factory.running();
    const asked = await race.hold((first) => cancel(first, job));
    expect(asked).toEqual({ cancelled: false, requestedOf: job.workerId });
    const { result } = await race.startBlocked((second) => finish(second, job, completing));
    await race.commit();
    expect(await result).toEqual(new Set([job.id]));
    const row = await rowOf(job);
    expect(row).toMatchObject({ status: 'completed', reason: null });
    expect(row.cancel_requested_at).not.toBeNull();
  });
});

describe('cancelling against other ends', () => {
  it.each(overruled)(
    'a job whose cancel was asked before $transition is left for abandon_jobs',
    async (decision) => {
      const job = await race.factory.running();
      await race.hold((first) => cancel(first, job));
      const { result } = await race.startBlocked((second) => finish(second, job, decision));
      await race.commit();
      expect(await result).toEqual(new Set());
      expect((await rowOf(job)).status).toBe('running');
      expect(await finish(race.second, job, abandoning)).toEqual(new Set([job.id]));
      expect(await rowOf(job)).toMatchObject({ status: 'cancelled', reason: 'changed_mind' });
    },
  );

  it.each(overruled)(
    'a cancel that waited for $transition ends what it finds',
    async (decision) => {
      const job = await race.factory.running();
      await race.hold((first) => finish(first, job, decision));
      const { result } = await race.startBlocked((second) => cancel(second, job));
      await race.commit();
      const done = await result;
      // A dead letter has ended; everything else can still be cancelled.
      const isDead = decision.transition === 'dead_letter_jobs';
      expect(done.cancelled).toBe(!isDead);
      expect((await rowOf(job)).status).toBe(isDead ? 'dead_letter' : 'cancelled');
    },
  );

  it('a worker cannot abandon a job whose cancel nobody asked', async () => {
    const job = await race.factory.running();
    expect(await finish(race.database, job, abandoning)).toEqual(new Set());
    expect((await rowOf(job)).status).toBe('running');
  });
});

describe('cancelling against claiming', () => {
  it('a cancel that waited for a claim asks the worker instead', async () => {
    const job = await race.factory.queued();
    await race.hold(() => claimFrom(asLane(race.first), job));
    const { result } = await race.startBlocked((second) => cancel(second, job));
    await race.commit();
    const requestedOf = expect.any(String) as unknown;
    expect(await result).toMatchObject({ cancelled: false, requestedOf });
    expect(await rowOf(job)).toMatchObject({ status: 'claimed', reason: 'changed_mind' });
  });

  it('a claim skips a job that is being cancelled', async () => {
    const job = await race.factory.queued();
    await race.hold((first) => cancel(first, job));
    expect(await claimFrom(asLane(race.second), job)).toEqual([]);
    await race.commit();
    expect(await claimFrom(asLane(race.second), job)).toEqual([]);
    expect((await rowOf(job)).status).toBe('cancelled');
  });
});

describe('cancelling against reaping', () => {
  it('a cancel that waited for the reaper ends the queued job', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    await race.hold(reap);
    const { result } = await race.startBlocked((second) => cancel(second, job));
    await race.commit();
    expect(await result).toEqual({ cancelled: true });
    expect((await rowOf(job)).status).toBe('cancelled');
  });

  it('an expired job whose cancel was asked is cancelled by the reaper, not queued again', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    await cancel(race.database, job);
    expect(await reap(race.database)).toEqual([]);
    const forced = await idsOf(race.database, statements.forceCancelJobs, [3_600_000, 1_000]);
    expect(forced).toEqual([job.id]);
    expect(await finish(race.database, job, completing)).toEqual(new Set());
    expect((await rowOf(job)).status).toBe('cancelled');
  });

  it('a live worker has the whole grace to react to a cancel request', async () => {
    const job = await race.factory.running();
    await cancel(race.database, job);
    expect(await idsOf(race.database, statements.forceCancelJobs, [3_600_000, 1_000])).toEqual([]);
    expect((await rowOf(job)).status).toBe('running');
  });
});

describe('two people', () => {
  it('who cancel one job both learn how it ended', async () => {
    const job = await race.factory.queued();
    expect(await race.hold((first) => cancel(first, job))).toEqual({ cancelled: true });
    const { result } = await race.startBlocked((second) => cancel(second, job));
    await race.commit();
    expect(await result).toMatchObject({ reason: 'not_in_state', status: 'cancelled' });
  });

  it('who replay one dead letter make one run of it', async () => {
    const job = await race.factory.deadLetter();
    const values = [job.projectId, job.id];
    await race.hold((first) => first.query(statements.replayJob, values));
    const { result } = await race.startBlocked((second) => {
      return idsOf(second, statements.replayJob, values);
    });
    await race.commit();
    expect(await result).toEqual([]);
    expect(await rowOf(job)).toMatchObject({ status: 'queued', generation: 1 });
  });
});

describe('purging against claiming', () => {
  it('a job that is claimed while its queue is purged runs on, and nobody asks it to stop', async () => {
    const job = await race.factory.queued();
    await race.hold(() => claimFrom(asLane(race.first), job));
    const request = { projectId: job.projectId, queueId: job.queueId, reason: 'purged' };
    const { result } = await race.startBlocked((second) => purgeQueue(second, request));
    await race.commit();
    expect(await result).toBe(0);
    expect(await rowOf(job)).toMatchObject({ status: 'claimed', cancel_requested_at: null });
  });
});
