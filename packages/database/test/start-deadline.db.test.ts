import {
  enqueueJobs,
  finishJobs,
  nextDueInMs,
  promoteJobs,
  replayJob,
  retryJob,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase, waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statements } from '../src/generated/statements.ts';
import { onlyRow, statusOf, takeSnapshot } from './support/job-snapshot.ts';
import { runJobs } from './support/run-jobs.ts';
import { uuidV7 } from '@holdfast/domain';
import type { JobFactory, LeasedJob, MadeJob, TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let factory: JobFactory;

beforeAll(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});
afterAll(async () => {
  await test.drop();
});

const snapshot = (job: MadeJob) => takeSnapshot(test.database, job);
const pass = (job: MadeJob) =>
  test.database.execute(
    `update holdfast.jobs set start_deadline_at = now() - interval '1 second' where id = '${job.id}'`,
  );

/** The worker stops before the handler is done, or before it began. */
async function giveBack({ projectId, id, lease, executionSeq }: LeasedJob): Promise<void> {
  const decision = {
    transition: 'return_jobs',
    executionStatus: 'returned',
    reason: 'drain',
  } as const;
  const times = { startedAgoMs: 0, finishedAgoMs: 0 };
  const jobs = [{ ...lease, id, executionSeq, ...times, decision }];
  await finishJobs(test.database, { projectId, transition: 'return_jobs', jobs });
}

/** Many workers were lost at once, and this job with them. */
async function loseWithMany(): Promise<void> {
  await test.database.query(statements.reapSpreadJobs, [0, 1_000, 0]);
}

describe('a start deadline', () => {
  it.each(['queued', 'scheduled'] as const)(
    'cancels a %s job that nobody claimed by then',
    async (status) => {
      const job = await factory.make(status, { startDeadlineMs: 3_600_000 });
      expect((await promoteJobs(test.database)).expiredCount).toBe(0);
      await pass(job);
      expect((await promoteJobs(test.database)).expiredCount).toBe(1);
      expect(onlyRow(await snapshot(job))).toMatchObject({
        status: 'cancelled',
        reason: 'start_deadline',
        execution_seq: 0,
      });
    },
  );

  it('may be an instant, which wins over a duration', async () => {
    const startDeadlineAt = new Date('2031-05-06T07:08:09.123Z');
    const job = await factory.queued({ startDeadlineAt, startDeadlineMs: 1 });
    const { start_deadline_at } = onlyRow(await snapshot(job));
    expect(new Date(String(start_deadline_at))).toEqual(startDeadlineAt);
  });

  it('keeps a job from being claimed even before it is cancelled', async () => {
    const job = await factory.queued({ type: 'too.late' });
    await pass(job);
    const { projectId, type } = job;
    expect(await runJobs(test.database, { projectId, types: [type] })).toEqual([]);
    expect(await statusOf(test.database, job)).toBe('queued');
    await promoteJobs(test.database);
    expect(await statusOf(test.database, job)).toBe('cancelled');
  });

  it('does not touch a job that has started before', async () => {
    // A retry: due again, with an attempt behind it.
    const job = await factory.scheduled({ crashCount: 1, delayMs: 1 });
    await pass(job);
    expect((await promoteJobs(test.database)).expiredCount).toBe(0);
    expect(await statusOf(test.database, job)).not.toBe('cancelled');
  });

  it.each([
    {
      what: 'was given back by a worker that stopped',
      from: 'running',
      comeBack: (job: MadeJob) => giveBack(job as LeasedJob),
    },
    { what: 'was with many workers that were lost', from: 'running', comeBack: loseWithMany },
    {
      what: 'is replayed',
      from: 'dead_letter',
      comeBack: (job: MadeJob) => replayJob(test.database, job),
    },
    {
      what: 'a person tries again',
      from: 'failed',
      comeBack: (job: MadeJob) => retryJob(test.database, job),
    },
  ] as const)('does not touch a job that had started in time and $what', async (each) => {
    const { from, comeBack } = each;
    const type = 'in.time';
    const job = await factory.make(from, { type, startDeadlineMs: 3_600_000, leaseMs: 0 });
    await pass(job);
    await comeBack(job);
    expect((await promoteJobs(test.database)).expiredCount).toBe(0);
    expect(await statusOf(test.database, job)).toBe('queued');
    const { projectId } = job;
    expect(await runJobs(test.database, { projectId, types: [type] })).toEqual([type]);
  });

  it('cancels a job that was given back before its handler began', async () => {
    const job = await factory.claimed({ startDeadlineMs: 3_600_000 });
    await pass(job);
    await giveBack(job);
    expect((await promoteJobs(test.database)).expiredCount).toBe(1);
    expect(await statusOf(test.database, job)).toBe('cancelled');
  });

  it('is what the promoter sleeps until', async () => {
    const job = await factory.queued({ startDeadlineMs: 400 });
    expect(await nextDueInMs(test.database)).toBeLessThanOrEqual(400);
    await waitFor('the job is cancelled', async () => {
      await promoteJobs(test.database);
      return (await statusOf(test.database, job)) === 'cancelled';
    });
  });

  it('is kept by a repeated enqueue of the same id', async () => {
    const job = await factory.queued({ startDeadlineMs: 3_600_000 });
    const before = await snapshot(job);
    const again = { id: job.id, queue: job.queue, type: job.type, payloadJson: '{}' };
    const jobs = [
      { ...again, startDeadlineMs: 5 },
      { ...again, id: uuidV7(Date.now()) },
    ];
    const { insertedIds } = await enqueueJobs(test.database, { projectId: job.projectId, jobs });
    expect(insertedIds.size).toBe(1);
    expect(await snapshot(job)).toEqual(before);
  });
});
