import { randomUUID } from 'node:crypto';
import {
  claimJobs,
  reapExpiredLeases,
  registerWorker,
  runJobNow,
  startJobs,
} from '@holdfast/database';
import type { ReapReport } from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import type { JobFactory, MadeJob, TestDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';

let test: TestDatabase;
let factory: JobFactory;

beforeEach(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});

afterEach(async () => {
  await test.drop();
});

/** Makes workers that fell silent a moment ago, when their leases of one second had ended. */
async function loseWorkers(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await registerWorker(test.database, {
      ...{ projectId: factory.projectId, id: randomUUID(), host: 'host', pid: 1, build: '1' },
      ...{ labels: {}, queues: ['*'], types: [], slots: 1, leaseMs: 1_000 },
    });
  }
  await test.database.query({
    name: 'fall_silent',
    text: `update holdfast.workers set heartbeat_at = clock_timestamp() - interval '2 seconds'`,
  });
}

/** Lets the job's next execution begin and lose its lease, and the reaper come by. */
async function crash(job: MadeJob): Promise<ReapReport> {
  const { database } = test;
  const { projectId, id, queueId, type, workerId } = job;
  await runJobNow(database, { projectId, id });
  const leaseToken = randomUUID();
  const lane = database.openLane('claims');
  const lanes = [{ queueId, priority: 5, afterSeq: '0' }];
  const limits = { limit: 1, suspectLimit: 1 };
  const request = { projectId, workerId, leaseToken, leaseMs: 0, types: [type], lanes, ...limits };
  const [claimed] = await claimJobs(lane, request).finally(() => lane.close());
  expect(claimed?.id).toBe(id);
  await startJobs(database, { projectId, started: [{ id, token: leaseToken, startedAgoMs: 0 }] });
  return reapExpiredLeases(database, { leaseMs: 0 });
}

it('forgives the jobs of workers that were lost together, and spreads them', async () => {
  await loseWorkers(3);
  expect(await crash(await factory.queued())).toMatchObject({ spread: 1, requeued: 0 });
});

it('counts the crash of a job whose worker was lost alone', async () => {
  await loseWorkers(1);
  expect(await crash(await factory.queued())).toMatchObject({ spread: 0, requeued: 1 });
});

it('convicts a job in the end that was with lost workers again and again', async () => {
  await loseWorkers(4);
  const job = await factory.queued();
  const reports: ReapReport[] = [];
  for (let count = 0; count < 6; count += 1) reports.push(await crash(job));
  const outcomes = ['spread', 'requeued', 'delayed', 'poisoned'] as const;
  expect(reports.map((report) => outcomes.find((outcome) => report[outcome] === 1))).toEqual([
    ...['spread', 'spread', 'spread'],
    ...['requeued', 'delayed', 'poisoned'],
  ]);
});
