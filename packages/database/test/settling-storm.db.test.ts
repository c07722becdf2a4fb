import {
  addToBatch,
  cancelJob,
  claimJobs,
  createBatch,
  finishJobs,
  listClaimableQueues,
  openDatabase,
  replayJob,
  settleEndings,
} from '@holdfast/database';
import { HoldfastError, uuidSeries, uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settleAll } from './support/run-jobs.ts';
import { seededRandom } from './support/seeded-random.ts';
import type {
  ClaimedJob,
  Database,
  NewBatch,
  NewCallback,
  NewDependency,
  NewJob,
} from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { TestDatabase } from '@holdfast/testing';

const batchCount = 60;
const actionCount = 150;

let test: TestDatabase;
let projectId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  ({ projectId } = await createJobFactory(test.database));
});
afterAll(() => test.drop());

it('counts every member once whatever workers, settlers, replays, cancels and additions do at the same time', async () => {
  const { database } = test;
  const { next: random } = seededRandom(7);
  for (let index = 0; index < batchCount; index += 1) {
    const batch = makeBatch(random, index % 4 === 0);
    await createBatch(database, { projectId, batch });
  }
  const isOver = { value: false };
  const settlers = [1, 2, 3].map(() => openDatabase({ connectionString: test.url }));
  const work = Promise.all([
    ...settlers.map((each) => repeat(isOver, () => settleEndings(each, 7))),
    ...[1, 2].map(() => repeat(isOver, () => endSome(database, random))),
  ]);
  for (let action = 0; action < actionCount; action += 1) {
    await Promise.all([replaySome(random), cancelSome(random), addSome(random)]);
  }
  isOver.value = true;
  await work;
  for (const each of settlers) await each.close();

  await finishAll(database);
  expect(await faults()).toEqual([]);
  for (const id of await idsOf(`select id from holdfast.jobs where status = 'dead_letter'`)) {
    await replayJob(database, { projectId, id });
  }
  await finishAll(database);
  for (;;) {
    const ids = await idsOf(waitForCancelledParents);
    if (ids.length === 0) break;
    for (const id of ids) await cancelJob(database, { projectId, id, reason: 'storm' });
    await finishAll(database);
  }
  expect(await faults()).toEqual([]);
  expect(await idsOf('select id from holdfast.jobs')).toEqual([]);
  expect(await idsOf('select id from holdfast.batches where finished_at is null')).toEqual([]);
}, 120_000);

/** Jobs that wait for a replay of a parent that was cancelled: a person has to say what becomes of them. */
const waitForCancelledParents = `
  select j.id from holdfast.jobs as j
  join holdfast.job_dependencies as d on d.child_id = j.id and d.on_failure = 'wait' and d.state = 'broken'
  join holdfast.job_history as h on h.id = d.parent_id and h.status = 'cancelled'`;

/** A graph with random edges from earlier to later jobs, maybe with another one inside. */
function makeBatch(random: () => number, isOuter: boolean): NewBatch {
  const id = uuidV7(Date.now());
  const nextId = uuidSeries(id);
  const jobs = Array.from({ length: 2 + Math.floor(random() * 6) }, () => makeJob(nextId()));
  const dependencies = jobs.flatMap((child, index) =>
    jobs.slice(0, index).flatMap((parent): readonly NewDependency[] => {
      if (random() > 0.4) return [];
      const onFailure = random() < 0.8 ? 'cancel' : random() < 0.5 ? 'run' : 'wait';
      return [{ parentId: parent.id, childId: child.id, onFailure }];
    }),
  );
  const callbacks = (['then', 'catch', 'finally'] as const).map((role): NewCallback => ({
    ...{ role, jobId: nextId() },
    job: { type: 'storm', queue: 'storm', payload: {} },
  }));
  const batches = isOuter ? [makeBatch(random, false)] : [];
  return { id, kind: 'graph', jobs, dependencies, callbacks, batches };
}

function makeJob(id: string): NewJob {
  return { id, queue: 'storm', type: 'storm', payloadJson: '{}' };
}

async function repeat(
  isOver: { readonly value: boolean },
  round: () => Promise<unknown>,
): Promise<void> {
  while (!isOver.value) await round();
}

/** Claims a few jobs and lets some of them die. */
async function endSome(database: Database, random: () => number): Promise<number> {
  const lane = database.openLane('claims');
  const queues = await listClaimableQueues(database, { projectId, names: ['storm'] });
  const jobs = await claimJobs(lane, {
    ...{ projectId, types: ['storm'], limit: 5, suspectLimit: 0, leaseMs: 60_000 },
    ...{ workerId: randomUUID(), leaseToken: randomUUID() },
    lanes: queues.map(({ id }) => ({ queueId: id, priority: 5, afterSeq: '0' })),
  });
  await lane.close();
  const dying = jobs.filter(() => random() < 0.3);
  await end(database, dying, {
    ...{ transition: 'dead_letter_jobs', executionStatus: 'failed', reason: 'x' },
    error: { code: 'x', message: 'x', fingerprint: 'x' },
  });
  await end(
    database,
    jobs.filter((job) => !dying.includes(job)),
    { transition: 'complete_jobs', executionStatus: 'completed' },
  );
  return jobs.length;
}

async function end(
  database: Database,
  ended: readonly ClaimedJob[],
  decision: Decision,
): Promise<void> {
  if (ended.length === 0) return;
  const jobs = ended
    .map(({ id, leaseToken: token, executionSeq }) => ({
      ...{ id, token, executionSeq, decision, startedAgoMs: 2, finishedAgoMs: 1 },
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  await finishJobs(database, { projectId, transition: decision.transition, jobs });
}

async function replaySome(random: () => number): Promise<void> {
  const ids = await idsOf(`select id from holdfast.jobs where status = 'dead_letter' limit 20`);
  const id = ids[Math.floor(random() * ids.length)];
  if (id !== undefined) await replayJob(test.database, { projectId, id });
}

async function cancelSome(random: () => number): Promise<void> {
  if (random() > 0.1) return;
  const ids = await idsOf(`select id from holdfast.jobs where status = 'scheduled' limit 20`);
  const id = ids[Math.floor(random() * ids.length)];
  if (id !== undefined) await cancelJob(test.database, { projectId, id, reason: 'storm' });
}

async function addSome(random: () => number): Promise<void> {
  const ids = await idsOf('select id from holdfast.batches where finished_at is null limit 20');
  const id = ids[Math.floor(random() * ids.length)];
  if (id === undefined) return;
  try {
    await addToBatch(test.database, { projectId, id, jobs: [makeJob(uuidV7(Date.now()))] });
  } catch (error) {
    // It finished in between.
    if (!(error instanceof HoldfastError)) throw error;
  }
}

/** Completes everything that is due, until nothing is any more. */
async function finishAll(database: Database): Promise<void> {
  for (;;) {
    await settleAll(database);
    if ((await endSome(database, () => 1)) === 0) return;
  }
}

async function idsOf(text: string): Promise<readonly string[]> {
  const rows = await test.database.query<{ id: string }>({ name: '', text });
  return rows.map(({ id }) => id);
}

/** Batches whose counts are not those of their members, and callbacks that were made otherwise than once or not at all. */
async function faults(): Promise<readonly object[]> {
  return test.database.query({
    name: '',
    text: `
      with member as (
        select j.batch_id as id, j.status::text as status
        from holdfast.all_jobs as j
        left join holdfast.batch_callbacks as c on c.job_id = j.id
        where c.job_id is null
        union all
        select i.parent_id, i.reported_status::text from holdfast.batches as i where i.parent_id is not null
      ),
      counted as (
        select id, count(*) as total, count(*) filter (where status = 'completed') as completed,
          count(*) filter (where status = 'dead_letter') as dead,
          count(*) filter (where status = 'cancelled') as cancelled
        from member group by id
      )
      select b.id::text, concat_ws(' ', b.total_count, b.completed_count, b.dead_letter_count, b.cancelled_count) as has,
        concat_ws(' ', m.total, m.completed, m.dead, m.cancelled) as is
      from holdfast.batches as b
      left join counted as m on m.id = b.id
      where (b.total_count, b.completed_count, b.dead_letter_count, b.cancelled_count)
        is distinct from (m.total, m.completed, m.dead, m.cancelled)
      union all
      select c.job_id::text, c.role, count(j.id)::text
      from holdfast.batch_callbacks as c
      left join holdfast.all_jobs as j on j.id = c.job_id
      group by c.job_id, c.role, c.enqueued_at
      having count(j.id) <> case when c.enqueued_at is null then 0 else 1 end`,
  });
}
