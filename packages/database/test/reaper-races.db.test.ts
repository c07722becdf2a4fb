import { extendLeases, finishJobs, statements } from '@holdfast/database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { createRace, idsOf, reap } from './support/race.ts';
import type { Queryable } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { LeasedJob } from '@holdfast/testing';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterEach(async () => {
  // A test that failed half way leaves its transaction open, and its job for the next reaper.
  await race.first.run('rollback');
  await race.database.execute('delete from holdfast.jobs');
});
afterAll(async () => {
  await race.close();
});

const error = { code: 'handler_failed', message: 'No', fingerprint: 'test:no' };
const completing: Decision = { transition: 'complete_jobs', executionStatus: 'completed' };
const finishing: readonly Decision[] = [
  completing,
  { transition: 'retry_jobs', executionStatus: 'failed', delayMs: 1_000, error },
  { transition: 'fail_jobs', executionStatus: 'failed', error },
  { transition: 'dead_letter_jobs', executionStatus: 'failed', error },
  { transition: 'release_jobs', executionStatus: 'released', delayMs: 1_000 },
  { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
];

async function finish(db: Queryable, job: LeasedJob, decision: Decision) {
  const { projectId, lease, executionSeq } = job;
  const jobs = [{ ...lease, executionSeq, startedAgoMs: 2, finishedAgoMs: 1, decision }];
  return finishJobs(db, { projectId, transition: decision.transition, jobs });
}

function beat(db: Queryable, { projectId, lease }: LeasedJob) {
  return extendLeases(db, { projectId, leases: [lease], leaseMs: 60_000 });
}

async function statusOf(job: LeasedJob) {
  return onlyRow(await takeSnapshot(race.database, job)).status;
}

describe('reaping against finishing', () => {
  it.each(finishing)(
    '$transition waits for the reaper and then changes nothing',
    async (decision) => {
      const job = await race.factory.running({ leaseMs: 0 });
      expect(await race.hold(reap)).toEqual([job.id]);
      const { result } = await race.startBlocked((second) => finish(second, job, decision));
      await race.commit();
      expect(await result).toEqual(new Set());
      const after = await takeSnapshot(race.database, job);
      expect(onlyRow(after)).toMatchObject({ status: 'queued', crash_count: 1, attempt: 0 });
      expect(after.executions).toMatchObject([{ status: 'running', reason: 'lease_expired' }]);
    },
  );

  it.each(finishing)('the reaper skips a job that $transition is ending', async (decision) => {
    const job = await race.factory.running({ leaseMs: 0 });
    const ids = await race.hold((first) => finish(first, job, decision));
    expect(ids).toEqual(new Set([job.id]));
    expect(await reap(race.second)).toEqual([]);
    await race.commit();
    expect(await reap(race.second)).toEqual([]);
    const after = await takeSnapshot(race.database, job);
    expect(onlyRow(after).crash_count).toBe(0);
    expect(after.executions).toMatchObject([{ status: decision.executionStatus }]);
  });

  it('a finish goes through when the reaper’s transaction fails', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    expect(await race.hold(reap)).toEqual([job.id]);
    const { result } = await race.startBlocked((second) => finish(second, job, completing));
    await race.first.run('rollback');
    expect(await result).toEqual(new Set([job.id]));
    expect(await statusOf(job)).toBe('completed');
  });
});

describe('reaping against the heartbeat', () => {
  it('the reaper skips a lease that is being extended, and finds it extended afterwards', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    await race.hold((first) => beat(first, job));
    expect(await reap(race.second)).toEqual([]);
    await race.commit();
    expect(await reap(race.second)).toEqual([]);
    expect(await statusOf(job)).toBe('running');
  });

  it('a lease that was extended after the reaper’s snapshot stays', async () => {
    const [job, other] = [
      await race.factory.running({ leaseMs: 0 }),
      await race.factory.running({ leaseMs: 0 }),
    ];
    // The reaper looks at the rows in the order of the table; it waits in a function of the test's own
    // before the second row, while that row's lease is extended.
    const reaped = await reapPausedAt(other, async () => {
      const [state] = await beat(race.database, other);
      expect(state).toMatchObject({ extended: true, lost: false });
    });
    expect(reaped).toEqual([job.id]);
    expect(await statusOf(other)).toBe('running');
  });

  it('the heartbeat skips a lease that is being reaped, and reports the loss at the next beat', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    await race.hold(reap);
    const id = job.id;
    expect(await beat(race.second, job)).toEqual([
      { id, extended: false, lost: false, cancelRequested: false },
    ]);
    await race.commit();
    expect(await beat(race.second, job)).toEqual([
      { id, extended: false, lost: true, cancelRequested: false },
    ]);
    expect(await statusOf(job)).toBe('queued');
  });

  it('a finish that waited for a heartbeat goes through', async () => {
    for (const decision of finishing) {
      const job = await race.factory.running();
      await race.hold((first) => beat(first, job));
      const { result } = await race.startBlocked((second) => finish(second, job, decision));
      await race.commit();
      expect(await result).toEqual(new Set([job.id]));
      expect((await takeSnapshot(race.database, job)).executions).toHaveLength(1);
    }
  });

  it('a heartbeat does not wait for a finish', async () => {
    const job = await race.factory.running();
    await race.hold((first) => finish(first, job, completing));
    const [state] = await beat(race.second, job);
    expect(state).toMatchObject({ extended: false, lost: false });
    await race.commit();
  });
});

describe('two reapers', () => {
  it('take disjoint jobs', async () => {
    const jobs = [];
    for (let count = 0; count < 6; count += 1) {
      jobs.push(await race.factory.running({ leaseMs: 0 }));
    }
    const half = await race.hold((first) => idsOf(first, statements.reapJobs, [0, 3]));
    const rest = await reap(race.second);
    await race.commit();
    expect(half).toHaveLength(3);
    expect([...half, ...rest].sort()).toEqual(jobs.map(({ id }) => id).sort());
  });
});

/** Runs the reaper on the second session and stops it when it looks at the given job, until `meanwhile` is over. */
async function reapPausedAt(
  job: LeasedJob,
  meanwhile: () => Promise<void>,
): Promise<readonly string[]> {
  const lock = 7;
  await race.database.execute(`
    create or replace function holdfast.test_gate(id uuid, value text) returns text language plpgsql as $$
    begin
      if id = '${job.id}' then perform pg_advisory_xact_lock(${String(lock)}); end if;
      return value;
    end $$;
  `);
  const text = statements.reapJobs.text.replace(
    'j.cancel_requested_at is null',
    `holdfast.test_gate(j.id, null) is null and j.cancel_requested_at is null`,
  );
  await race.hold(() => race.first.run(`select pg_advisory_xact_lock(${String(lock)})`));
  const { result } = await race.startBlocked((second) =>
    idsOf(second, { name: 'test_gated_reap', text }, [0, 1_000]),
  );
  await meanwhile();
  await race.commit();
  return result;
}
