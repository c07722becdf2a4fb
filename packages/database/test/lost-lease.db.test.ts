import { randomUUID } from 'node:crypto';
import {
  appendLogs,
  extendLeases,
  findStoredEnds,
  finishJobs,
  recordLateResult,
  recordProgress,
  startJobs,
  statements,
} from '@holdfast/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { createRace, reap } from './support/race.ts';
import type { FinishedJob } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { LeasedJob } from '@holdfast/testing';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterAll(async () => {
  await race.close();
});

const error = { code: 'handler_failed', message: 'Late', fingerprint: 'test:late' };

const decisions: Readonly<Record<Decision['transition'], Decision>> = {
  complete_jobs: { transition: 'complete_jobs', executionStatus: 'completed', resultJson: '1' },
  retry_jobs: { transition: 'retry_jobs', executionStatus: 'failed', delayMs: 1, error },
  fail_jobs: { transition: 'fail_jobs', executionStatus: 'failed', error },
  dead_letter_jobs: { transition: 'dead_letter_jobs', executionStatus: 'failed', error },
  release_jobs: { transition: 'release_jobs', executionStatus: 'released', delayMs: 1 },
  return_jobs: { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
  abandon_jobs: { transition: 'abandon_jobs', executionStatus: 'cancelled', error },
};

function finished(job: LeasedJob, decision: Decision): FinishedJob {
  const { lease, executionSeq } = job;
  return { ...lease, executionSeq, startedAgoMs: 2, finishedAgoMs: 1, decision };
}

/** A job whose first worker lost its lease, and which another worker may hold by now. */
async function makeReaped(now: 'queued again' | 'claimed by another'): Promise<LeasedJob> {
  const job = await race.factory.running({ leaseMs: 0 });
  expect(await reap(race.database)).toHaveLength(1);
  if (now === 'claimed by another') {
    const { projectId, queueId, workerId, id } = job;
    const claimed = await race.database.query(statements.claimJobs, [
      ...[projectId, `{${queueId}}`, '{5}', '{0}', `{${job.type}}`, 0, 1],
      ...[workerId, id, 60_000],
    ]);
    expect(claimed).toHaveLength(1);
  }
  return job;
}

describe.each(['queued again', 'claimed by another'] as const)(
  'a worker whose job was reaped and is %s',
  (now) => {
    it.each(Object.values(decisions))('cannot make it $transition', async (decision) => {
      const job = await makeReaped(now);
      const before = await takeSnapshot(race.database, job);
      const { projectId } = job;
      const { transition } = decision;
      const jobs = [finished(job, decision)];
      expect(await finishJobs(race.database, { projectId, transition, jobs })).toEqual(new Set());
      expect(await takeSnapshot(race.database, job)).toEqual(before);
    });

    it('cannot start it, and learns of the loss from its heartbeat', async () => {
      const job = await makeReaped(now);
      const before = await takeSnapshot(race.database, job);
      const { projectId, lease } = job;
      const started = [{ ...lease, startedAgoMs: 0 }];
      expect(await startJobs(race.database, { projectId, started })).toEqual(new Set());
      const leases = [lease];
      const states = await extendLeases(race.database, { projectId, leases, leaseMs: 60_000 });
      expect(states).toEqual([{ id: job.id, extended: false, lost: true, cancelRequested: false }]);
      expect(await takeSnapshot(race.database, job)).toEqual(before);
    });

    it('cannot report progress or log', async () => {
      const job = await makeReaped(now);
      const before = await takeSnapshot(race.database, job);
      const { projectId, lease } = job;
      await recordProgress(race.database, {
        projectId,
        progress: [{ ...lease, progressJson: '{"percent":99}' }],
      });
      await appendLogs(race.database, {
        projectId,
        lines: [
          { ...lease, agoMs: 0, line: 1, level: 'info', message: 'late', fieldsJson: undefined },
        ],
      });
      expect(await takeSnapshot(race.database, job)).toEqual(before);
      expect(await readLogs(job)).toEqual([]);
    });

    it('has its late result kept beside its own execution, and nowhere else', async () => {
      const job = await makeReaped(now);
      const before = await takeSnapshot(race.database, job);
      const { projectId, workerId, executionSeq } = job;
      const late = finished(job, decisions.complete_jobs);
      const report = (from: string, reported = late) =>
        recordLateResult(race.database, { projectId, workerId: from, job: reported });
      // Of another worker's execution: a crash of the server may undo a claim and give its number again.
      await report(randomUUID());
      expect(await readLateResults(job)).toEqual([]);
      await report(workerId);
      // A second report of the same execution, and one of an execution that never was.
      await report(workerId);
      await report(workerId, { ...late, executionSeq: 77 });
      expect(await takeSnapshot(race.database, job)).toEqual(before);
      expect(await readLateResults(job)).toEqual([
        { job_id: job.id, execution_seq: executionSeq, status: 'completed', result: 1 },
      ]);
    });
  },
);

describe('a lease that has expired but was not reaped yet', () => {
  it('still lets its own worker complete the job', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    const jobs = [finished(job, decisions.complete_jobs)];
    const { projectId } = job;
    const ids = await finishJobs(race.database, { projectId, transition: 'complete_jobs', jobs });
    expect(ids).toEqual(new Set([job.id]));
    expect(await reap(race.database)).toEqual([]);
    expect(onlyRow(await takeSnapshot(race.database, job)).status).toBe('completed');
  });
});

describe('a worker that repeats a write whose answer was lost', () => {
  it.each(Object.values(decisions).filter((each) => each.transition !== 'abandon_jobs'))(
    'learns that its $transition is stored already',
    async (decision) => {
      const job = await race.factory.running();
      const { projectId, workerId } = job;
      const { transition } = decision;
      const jobs = [finished(job, decision)];
      const ids = new Set([job.id]);
      expect(await finishJobs(race.database, { projectId, transition, jobs })).toEqual(ids);
      const before = await takeSnapshot(race.database, job);
      expect(await finishJobs(race.database, { projectId, transition, jobs })).toEqual(new Set());
      expect(await takeSnapshot(race.database, job)).toEqual(before);
      expect(await findStoredEnds(race.database, { projectId, workerId, jobs })).toEqual(ids);
    },
  );

  it('is not told so when the reaper ended its execution', async () => {
    const job = await makeReaped('queued again');
    const { projectId, workerId } = job;
    expect(await findStoredEnds(race.database, { projectId, workerId, jobs: [job] })).toEqual(
      new Set(),
    );
  });
});

describe('a worker with its lease', () => {
  it('can report progress and log', async () => {
    const job = await race.factory.running();
    const { projectId, lease } = job;
    const line = { ...lease, agoMs: 0, line: 1, level: 'info' as const, message: `it's "ok" \\` };
    const lines = [{ ...line, fieldsJson: '{"a":[1,"b"]}' }];
    await appendLogs(race.database, { projectId, lines });
    await recordProgress(race.database, {
      projectId,
      progress: [{ ...lease, progressJson: '{"percent":50}' }],
    });
    expect(onlyRow(await takeSnapshot(race.database, job)).progress).toEqual({ percent: 50 });
    expect(await readLogs(job)).toEqual([
      { job_id: job.id, line: 1, message: line.message, fields: { a: [1, 'b'] } },
    ]);
  });
});

function readLogs(job: LeasedJob) {
  const text =
    'select job_id, line, message, fields from holdfast.job_logs where project_id = $1 and job_id = $2';
  return race.database.query({ name: 'test_read_logs', text }, [job.projectId, job.id]);
}

function readLateResults(job: LeasedJob) {
  const text = `select job_id, execution_seq, status, result
    from holdfast.job_late_results where project_id = $1 and job_id = $2`;
  return race.database.query({ name: 'test_read_late_results', text }, [job.projectId, job.id]);
}
