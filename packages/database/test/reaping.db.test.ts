import {
  claimJobs,
  reapExpiredLeases,
  registerWorker,
  runJobNow,
  statements,
} from '@holdfast/database';
import { crashBackoffMs } from '@holdfast/domain';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { asLane, claimFrom, claimRequest, createRace } from './support/race.ts';
import type { MadeJob } from '@holdfast/testing';
import type { JobSnapshot } from './support/job-snapshot.ts';
import type { Race } from './support/race.ts';

const leaseMs = 10;
const dayMs = 86_400_000;

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
beforeEach(async () => {
  const tables = ['jobs', 'workers', 'settings'];
  for (const table of tables) await race.database.execute(`delete from holdfast.${table}`);
});
afterAll(async () => {
  await race.close();
});

async function rowOf(job: MadeJob) {
  return onlyRow(await takeSnapshot(race.database, job));
}

/** From the record of the last crash to when the job is due; both times are of one statement. */
function waitMsOf(snapshot: JobSnapshot): number {
  const recordedAt = snapshot.executions.at(-1)?.['recorded_at'];
  return new Date(onlyRow(snapshot).run_at).getTime() - new Date(String(recordedAt)).getTime();
}

/** Lets the job's worker take it, start it and die. */
async function crash(job: MadeJob): Promise<void> {
  const { projectId, id, workerId } = job;
  const token = randomUUID();
  const lanes = [{ queueId: job.queueId, priority: 5, afterSeq: '0' }];
  const request = { ...claimRequest(job, 1), workerId, leaseToken: token, leaseMs: 0 };
  const claimed = await claimJobs(asLane(race.second), { ...request, lanes });
  expect(claimed.map((each) => each.id)).toEqual([id]);
  await race.database.query(statements.startJobs, [projectId, `{${id}}`, `{${token}}`, '{0}']);
}

describe('a job that takes its workers down', () => {
  it('runs again at once, then after waits that double, and at last is a dead letter with its evidence', async () => {
    const job = await race.factory.queued();
    const poisonCount = 4;
    await crash(job);
    expect(await reapExpiredLeases(race.database, { leaseMs, poisonCount })).toMatchObject({
      requeued: 1,
    });
    expect(await rowOf(job)).toMatchObject({ status: 'queued', attempt: 0, crash_count: 1 });
    for (const crashCount of [2, 3]) {
      await crash(job);
      expect(await reapExpiredLeases(race.database, { leaseMs, poisonCount })).toMatchObject({
        delayed: 1,
      });
      const waiting = await takeSnapshot(race.database, job);
      expect(onlyRow(waiting)).toMatchObject({ status: 'scheduled', attempt: 0 });
      expect(onlyRow(waiting).crash_count).toBe(crashCount);
      expect(Math.abs(waitMsOf(waiting) - crashBackoffMs(crashCount))).toBeLessThan(5_000);
      await runJobNow(race.database, job);
    }
    await crash(job);
    expect(await reapExpiredLeases(race.database, { leaseMs, poisonCount })).toMatchObject({
      poisoned: 1,
    });
    const end = await takeSnapshot(race.database, job);
    expect(onlyRow(end)).toMatchObject({ status: 'dead_letter', reason: 'poison_pill' });
    expect(onlyRow(end)).toMatchObject({ crash_count: 4, execution_seq: 4, attempt: 1 });
    expect(end.executions.map((each) => [each.execution_seq, each.status, each.attempt])).toEqual([
      [1, 'running', 1],
      [2, 'running', 1],
      [3, 'running', 1],
      [4, 'running', 1],
    ]);
  });

  it('is poison after three crashes unless told otherwise', async () => {
    const job = await race.factory.running({ crashCount: 2, leaseMs: 0 });
    expect(await reapExpiredLeases(race.database, { leaseMs })).toMatchObject({ poisoned: 1 });
    expect((await rowOf(job)).status).toBe('dead_letter');
  });

  it('is given only to a worker that has room for a suspect', async () => {
    const suspect = await race.factory.queued({ crashCount: 1 });
    const lane = asLane(race.second);
    const lanes = [{ queueId: suspect.queueId, priority: 5, afterSeq: '0' }];
    const request = { ...claimRequest(suspect, 10), lanes };
    expect(await claimJobs(lane, { ...request, suspectLimit: 0 })).toEqual([]);
    expect(await claimJobs(lane, { ...request, limit: 0, suspectLimit: 1 })).toHaveLength(1);
  });

  it('does not mark those that waited beside it, and has nothing counted, when it never started', async () => {
    const job = await race.factory.claimed({ crashCount: 1, leaseMs: 0 });
    expect(await reapExpiredLeases(race.database, { leaseMs })).toMatchObject({ requeued: 1 });
    expect(await rowOf(job)).toMatchObject({ status: 'queued', crash_count: 1, attempt: 0 });
  });
});

describe('a round of the reaper', () => {
  it('takes all expired leases, not only the first page', async () => {
    const { projectId, queueId } = await race.factory.completed();
    await race.database.execute(`
      insert into holdfast.jobs (
        project_id, id, queue_id, type, payload, created_at, run_at, status, seq, attempt, execution_seq, worker_id,
        lease_token, claimed_at, started_at, lock_expires_at, schedule_id
      )
      select '${projectId}', gen_random_uuid(), ${queueId}, 't', '{}', now(), now(), 'running', g, 1, 1,
        gen_random_uuid(), gen_random_uuid(), now(), now(), now() - interval '1 second', gen_random_uuid()
      from generate_series(1, 2500) as g
    `);
    expect(await reapExpiredLeases(race.database, { leaseMs })).toMatchObject({ requeued: 2_500 });
  });

  it('leaves leases that still run', async () => {
    const job = await race.factory.running();
    expect(await reapExpiredLeases(race.database, { leaseMs })).toMatchObject({ requeued: 0 });
    expect((await rowOf(job)).status).toBe('running');
  });

  it('waits for one lease after the server has started', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    // The server has run for less than this.
    expect(await reapExpiredLeases(race.database, { leaseMs: 3_650 * dayMs })).toMatchObject({
      requeued: 0,
    });
    expect((await rowOf(job)).status).toBe('running');
  });

  it('waits for one lease after a failover', async () => {
    const job = await race.factory.running({ leaseMs: 0 });
    expect(await reapExpiredLeases(race.database, { leaseMs })).toMatchObject({ requeued: 1 });
    await claimFrom(asLane(race.second), job);
    await race.database.execute(`
      update holdfast.jobs set lock_expires_at = now() - interval '1 second';
      update holdfast.settings set value = jsonb_set(value, '{id}', '"00000099"') where key = 'timeline';
    `);
    const short = await reapExpiredLeases(race.database, { leaseMs: dayMs });
    expect(short).toMatchObject({ waiting: true, requeued: 0 });
    expect((await rowOf(job)).status).toBe('claimed');
    await race.database.execute(
      `update holdfast.settings set updated_at = updated_at - interval '1 minute' where key = 'timeline'`,
    );
    expect(await reapExpiredLeases(race.database, { leaseMs })).toMatchObject({ waiting: false });
    expect((await rowOf(job)).status).toBe('queued');
  });
});

describe('many workers that are lost at once', () => {
  async function register(count: number, silentFor: string): Promise<void> {
    const ids = Array.from({ length: count }, () => randomUUID());
    for (const id of ids) {
      await registerWorker(race.database, {
        projectId: race.factory.projectId,
        id,
        ...{ host: 'h', pid: 1, build: 'test', labels: {}, queues: ['*'], types: [] },
        ...{ slots: 1, leaseMs: 30_000 },
      });
    }
    await race.database.execute(
      `update holdfast.workers set heartbeat_at = now() - interval '${silentFor}'
       where id = any ('{${ids.join(',')}}')`,
    );
  }

  it('have their jobs spread over time, and none of them counted', async () => {
    const jobs = [
      await race.factory.running({ leaseMs: 0 }),
      await race.factory.claimed({ leaseMs: 0 }),
    ];
    await register(4, '40 seconds');
    await register(5, '5 seconds');
    const report = await reapExpiredLeases(race.database, { leaseMs, spreadMs: dayMs });
    expect(report).toMatchObject({ spread: 2, lostWorkers: 4, requeued: 0 });
    for (const job of jobs) {
      const row = await rowOf(job);
      expect(row).toMatchObject({ status: 'scheduled', attempt: 0, crash_count: 0 });
      expect(new Date(row.run_at).getTime()).toBeLessThan(Date.now() + dayMs);
    }
  });

  it.each([
    ['few', 2, 0],
    ['a small share', 3, 8],
  ])('are no mass loss when they are %s', async (_, lost, alive) => {
    const job = await race.factory.running({ leaseMs: 0 });
    await register(lost, '40 seconds');
    await register(alive, '5 seconds');
    const report = await reapExpiredLeases(race.database, { leaseMs });
    expect(report).toMatchObject({ spread: 0, requeued: 1, lostWorkers: lost });
    expect(await rowOf(job)).toMatchObject({ status: 'queued', crash_count: 1 });
  });
});
