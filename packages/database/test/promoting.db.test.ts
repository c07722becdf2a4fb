import {
  enqueueJobs,
  nextDueInMs,
  pauseQueue,
  promoteJobs,
  replayJob,
  retryJob,
  runJobNow,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onlyRow, statusOf, takeSnapshot } from './support/job-snapshot.ts';
import { createRace } from './support/race.ts';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterEach(async () => {
  await race.first.run('rollback');
  await race.database.execute('delete from holdfast.jobs');
});
afterAll(async () => {
  await race.close();
});

/** Jobs that were due some seconds ago, given in that order. */
async function makeDue(secondsAgo: readonly number[]): Promise<readonly string[]> {
  const ids = secondsAgo.map(() => uuidV7(Date.now()));
  const common = { queue: 'due', type: 'test.job', payloadJson: '{}', delayMs: 3_600_000 };
  const jobs = ids.map((id) => ({ id, ...common }));
  await enqueueJobs(race.database, { projectId: race.factory.projectId, jobs });
  for (const [index, seconds] of secondsAgo.entries()) {
    await race.database.execute(`update holdfast.jobs
      set run_at = now() - interval '${String(seconds)} seconds' where id = '${ids[index] ?? ''}'`);
  }
  return ids;
}

async function idsInLine(): Promise<readonly string[]> {
  const text = `select id from holdfast.jobs where status = 'queued' order by seq`;
  const rows = await race.database.query<{ id: string }>({ name: 'test_line_now', text });
  return rows.map(({ id }) => id);
}

describe('the promoter', () => {
  it('puts due jobs in line, those that were due first in front', async () => {
    const [b, c, a] = await makeDue([20, 10, 30]);
    const later = await race.factory.scheduled();
    expect(await promoteJobs(race.database)).toMatchObject({ count: 3, more: false });
    expect(await idsInLine()).toEqual([a, b, c]);
    expect(await statusOf(race.database, later)).toBe('scheduled');
  });

  it('says when a whole page was promoted, and which queues to wake', async () => {
    await makeDue([3, 2, 1]);
    const first = await promoteJobs(race.database, 2);
    expect(first).toMatchObject({ count: 2, more: true });
    expect(first.queueIds).toHaveLength(1);
    expect(await promoteJobs(race.database, 2)).toMatchObject({ count: 1, more: false });
    expect(await promoteJobs(race.database, 2)).toEqual({
      count: 0,
      expiredCount: 0,
      queueIds: [],
      more: false,
    });
  });

  it('skips a job that somebody holds, and promotes it later', async () => {
    const [held, free] = await makeDue([20, 10]);
    const lock = `select 1 from holdfast.jobs where id = '${held ?? ''}' for update`;
    await race.hold(() => race.first.run(lock));
    expect(await promoteJobs(race.database)).toMatchObject({ count: 1 });
    expect(await idsInLine()).toEqual([free]);
    await race.commit();
    expect(await promoteJobs(race.database)).toMatchObject({ count: 1 });
  });

  it('and a person who hurries the same job make one place in the line', async () => {
    const [id = ''] = await makeDue([10]);
    const { projectId } = race.factory;
    await race.hold((first) => runJobNow(first, { projectId, id }));
    expect(await promoteJobs(race.database)).toMatchObject({ count: 0 });
    await race.commit();
    expect(await promoteJobs(race.database)).toMatchObject({ count: 0 });
    expect(await idsInLine()).toEqual([id]);
  });

  it('ends pauses whose end has come, and wakes their queues', async () => {
    const { projectId, queue, queueId } = await race.factory.queued();
    const pause = { projectId, name: queue, by: 'ann', reason: undefined };
    await pauseQueue(race.database, { ...pause, until: new Date(Date.now() + 3_600_000) });
    expect((await promoteJobs(race.database)).queueIds).toEqual([]);
    expect(await nextDueInMs(race.database)).toBeGreaterThan(0);
    await pauseQueue(race.database, { ...pause, until: new Date(Date.now() - 1_000) });
    expect(await nextDueInMs(race.database)).toBeLessThanOrEqual(0);
    expect((await promoteJobs(race.database)).queueIds).toEqual([queueId]);
    expect(await nextDueInMs(race.database)).toBeUndefined();
  });
});

describe('the next due instant', () => {
  it('is that of the first scheduled job', async () => {
    expect(await nextDueInMs(race.database)).toBeUndefined();
    await race.factory.scheduled({ delayMs: 7_200_000 });
    await race.factory.scheduled({ delayMs: 3_600_000 });
    const dueInMs = await nextDueInMs(race.database);
    expect(dueInMs).toBeGreaterThan(3_500_000);
    expect(dueInMs).toBeLessThanOrEqual(3_600_000);
  });

  it('is not that of a job that waits for parents', async () => {
    const { id } = await race.factory.scheduled();
    const waiting = `update holdfast.jobs set run_at = 'infinity', pending_parents = 1 where id = '${id}'`;
    await race.database.execute(waiting);
    expect(await nextDueInMs(race.database)).toBeUndefined();
    expect(await promoteJobs(race.database)).toMatchObject({ count: 0 });
    const { projectId } = race.factory;
    expect(await runJobNow(race.database, { projectId, id })).toEqual({
      done: false,
      reason: 'not_in_state',
      status: 'scheduled',
    });
  });
});

describe('a job that a person sends again', () => {
  it.each([
    ['dead_letter', replayJob],
    ['failed', retryJob],
  ] as const)('from %s starts at the end of the line with a clean slate', async (status, again) => {
    const job = await race.factory.make(status, { crashCount: 2 });
    const other = await race.factory.queued();
    const before = onlyRow(await takeSnapshot(race.database, job));
    expect(before).toMatchObject({ crash_count: 2, execution_seq: 3, generation: 0 });
    const { projectId, id, queueId } = job;
    expect(await again(race.database, { projectId, id })).toEqual({ done: true, queueId });
    const after = onlyRow(await takeSnapshot(race.database, job));
    expect(after).toMatchObject({ status: 'queued', attempt: 0, crash_count: 0, generation: 1 });
    // Executions go on counting, and the last error stays to be seen.
    expect(after).toMatchObject({ execution_seq: 3, reason: null });
    expect(after['last_error']).toEqual(before['last_error']);
    expect(await idsInLine()).toEqual([other.id, id]);
    expect(await again(race.database, { projectId, id })).toMatchObject({ status: 'queued' });
  });

  it('but that does not exist is not found', async () => {
    const key = { projectId: race.factory.projectId, id: uuidV7(Date.now()) };
    for (const act of [replayJob, retryJob, runJobNow]) {
      expect(await act(race.database, key)).toEqual({ done: false, reason: 'not_found' });
    }
  });
});
