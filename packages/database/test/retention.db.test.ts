import {
  appendLogs,
  defaultRetention,
  ensurePartitions,
  finishJobs,
  prune,
  recordLateResult,
  replayJob,
} from '@holdfast/database';
import { jobStatuses } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeSnapshot } from './support/job-snapshot.ts';
import type { Retention } from '@holdfast/database';
import type { JobFactory, LeasedJob, MadeJob, TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let factory: JobFactory;

beforeEach(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});
afterEach(async () => {
  await test.drop();
});

const nothingKept: Retention = {
  historyMs: 0,
  deadLettersMs: 0,
  statsMs: 0,
  firesMs: 0,
  eventsMs: 0,
  workersMs: 0,
};

/** Lets everything about every job have happened that many days ago. */
async function age(days: number): Promise<void> {
  const by = `- interval '${String(days)} days'`;
  const times = ['created_at', 'run_at', 'claimed_at', 'started_at', 'finished_at'];
  const shift = (columns: readonly string[]) =>
    columns.map((column) => `${column} = ${column} ${by}`).join(', ');
  await test.database.execute(`
    update holdfast.jobs set ${shift(times)};
    update holdfast.job_history set ${shift(times)};
    update holdfast.job_executions
    set ${shift(['recorded_at', 'claimed_at', 'started_at', 'finished_at', 'lease_lost_at'])};
    update holdfast.job_logs set ${shift(['logged_at'])};
    update holdfast.job_late_results set ${shift(['recorded_at'])};
  `);
}

async function countRows(table: string, job: MadeJob): Promise<number> {
  const text = `select count(*)::integer as count from holdfast.${table} where job_id = $1`;
  const statement = { name: `test_count_${table}`, text };
  const [row] = await test.database.query<{ count: number }>(statement, [job.id]);
  return row?.count ?? 0;
}

async function logOneLine({ projectId, lease }: LeasedJob): Promise<void> {
  const line = { ...lease, agoMs: 0, line: 1, level: 'info', message: 'hello' } as const;
  await appendLogs(test.database, { projectId, lines: [{ ...line, fieldsJson: undefined }] });
}

describe('pruning', () => {
  it('removes no job that has not ended, however old and however short the retention', async () => {
    const living = jobStatuses.filter(
      (status) => !['completed', 'cancelled', 'dead_letter'].includes(status),
    );
    const backlog: MadeJob[] = [];
    for (const status of living) {
      for (let count = 0; count < 3; count += 1) backlog.push(await factory.make(status));
    }
    await age(400);
    const before = await Promise.all(backlog.map((job) => takeSnapshot(test.database, job)));
    await prune(test.database, nothingKept);
    await prune(test.database, nothingKept);
    const after = await Promise.all(backlog.map((job) => takeSnapshot(test.database, job)));
    expect(after).toEqual(before);
  });

  it('removes jobs that ended for good, with their executions, when their time is over', async () => {
    const completed = await factory.completed();
    const jobs = [completed, await factory.cancelled()];
    await prune(test.database, defaultRetention);
    expect((await takeSnapshot(test.database, completed)).history).toHaveLength(1);
    await age(100);
    await prune(test.database, defaultRetention);
    for (const job of jobs) {
      const { history, executions } = await takeSnapshot(test.database, job);
      expect([history, executions]).toEqual([[], []]);
    }
  });

  it('keeps dead letters for their own time, then moves them to history', async () => {
    const job = await factory.deadLetter();
    await age(89);
    expect((await prune(test.database, defaultRetention)).retiredDeadLetters).toBe(0);
    expect((await takeSnapshot(test.database, job)).executions).toHaveLength(1);
    await age(2);
    expect((await prune(test.database, defaultRetention)).retiredDeadLetters).toBe(1);
    const after = await takeSnapshot(test.database, job);
    expect(after).toMatchObject({ jobs: [], history: [{ status: 'dead_letter' }] });
    const { projectId, id } = job;
    // Retired is ended for good.
    expect(await replayJob(test.database, { projectId, id })).toMatchObject({ done: false });
  });

  it('goes through any number of pages', async () => {
    const { projectId, queueId } = await factory.completed();
    await test.database.execute(`
      insert into holdfast.jobs (
        project_id, id, queue_id, type, payload, created_at, run_at, finished_at, status
      )
      select '${projectId}', gen_random_uuid(), ${queueId}, 't', '{}', now(), now(), now(), 'dead_letter'
      from generate_series(1, 2500)
    `);
    expect((await prune(test.database, nothingKept)).retiredDeadLetters).toBe(2_500);
  });

  it('keeps what is beside a job as long as the job, and no longer', async () => {
    const job = await factory.running({ leaseMs: 0 });
    await logOneLine(job);
    const { projectId, workerId, lease, executionSeq } = job;
    const decision = { transition: 'dead_letter_jobs', executionStatus: 'failed' } as const;
    const ended = { ...lease, executionSeq, startedAgoMs: 0, finishedAgoMs: 0, decision };
    await finishJobs(test.database, {
      projectId,
      transition: 'dead_letter_jobs',
      jobs: [ended],
    });
    await recordLateResult(test.database, { projectId, workerId, job: ended });
    await age(30);
    await prune(test.database, defaultRetention);
    const counts = async () => [
      await countRows('job_executions', job),
      await countRows('job_logs', job),
      await countRows('job_late_results', job),
    ];
    expect(await counts()).toEqual([1, 1, 1]);
    await age(90);
    await prune(test.database, defaultRetention);
    await prune(test.database, defaultRetention);
    expect(await counts()).toEqual([0, 0, 0]);
  });

  it('leaves the partitions of the days to come', async () => {
    await prune(test.database, nothingKept);
    // Only yesterday's is gone.
    expect(await ensurePartitions(test.database)).toHaveLength(3);
  });
});
