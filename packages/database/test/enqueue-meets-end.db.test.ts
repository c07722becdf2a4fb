import {
  claimJobs,
  claimJobsWithinLimit,
  createQueue,
  enqueueJobs,
  enqueueUniqueJobs,
  finishJobs,
  openDatabase,
  promoteJobs,
  resolveQueues,
  settleEndings,
  startJobs,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settleAll } from './support/run-jobs.ts';
import { seededRandom } from './support/seeded-random.ts';
import { takeTurns } from './support/take-turns.ts';
import { endings } from './support/unique-jobs.ts';
import type { ClaimedJob, Database, Lane, Statement } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { TestDatabase } from '@holdfast/testing';

const sessionCount = 12;
const type = 'test.met';

let test: TestDatabase;
let database: Database;
let projectId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase({ connectionString: test.url, poolSize: sessionCount });
  ({ projectId } = await createJobFactory(test.database));
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

async function start(jobs: readonly ClaimedJob[]): Promise<void> {
  const started = jobs.map((job) => ({ id: job.id, token: job.leaseToken, startedAgoMs: 0 }));
  await startJobs(database, { projectId, started });
}

async function finish(jobs: readonly ClaimedJob[], decision: Decision): Promise<void> {
  const error = { code: 'handler_failed', message: 'No', fingerprint: 'test' };
  const ended = jobs
    .map(({ id, leaseToken: token, executionSeq }) => ({
      ...{ id, token, executionSeq, startedAgoMs: 0, finishedAgoMs: 0 },
      decision: { error, ...decision },
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const { transition } = decision;
  const ids = await finishJobs(database, { projectId, transition, jobs: ended });
  expect(ids.size).toBe(jobs.length);
}

const claim = { leaseMs: 600_000, suspectLimit: 0, types: [type] };

/** Keys whose jobs are not: one in line, and at most one that waits for it. */
const stuckKeys: Statement = {
  name: 'test_stuck_keys',
  text: `select k.key, array_agg(j.status || ' ' || j.pending_parents) as jobs
    from unnest($1::text[]) as k (key)
    left join holdfast.jobs as j on j.unique_lock ->> 'key' = k.key and j.status <> 'dead_letter'
    group by k.key
    having count(*) filter (where j.status = 'queued') <> 1
      or count(*) filter (where j.status <> 'queued' and (j.status <> 'scheduled' or j.pending_parents <> 1)) > 0
      or count(*) > 2`,
};

it('no job waits for a key that is free, however 10 000 enqueues meet the ends of the holders', async () => {
  const random = seededRandom(randomInt(2 ** 32));
  const [roundCount, keyCount] = [20, 500];
  const keys = Array.from({ length: keyCount }, (_, index) => `key-${String(index)}`);
  const [queue] = (await resolveQueues(database, projectId, ['met'])).values();
  const lane = database.openLane('claims');
  const decisions: readonly Decision[] = [
    ...[endings.complete, endings.complete, endings.complete, endings.deadLetter, endings.drain],
    ...[endings.retry, endings.release].map((ending) => ({ ...ending, delayMs: 0 })),
  ];
  const enqueue = (some: readonly string[]) =>
    enqueueUniqueJobs(database, {
      projectId,
      jobs: some.map((key) => ({
        ...{ id: uuidV7(Date.now()), queue: 'met', type, payloadJson: '{}' },
        unique: { key, onConflict: 'queue_latest' },
      })),
    });
  /** In any order, a few in each part. */
  const deal = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
    const left = [...random.shuffle(items)];
    const parts: Item[][] = [];
    while (left.length > 0) parts.push(left.splice(0, 1 + random.below(4)));
    return parts;
  };
  await enqueue(keys);
  for (let round = 0; round < roundCount; round += 1) {
    const held = await claimJobs(lane, {
      ...{ ...claim, projectId, limit: keyCount * 2, workerId: randomUUID() },
      leaseToken: randomUUID(),
      lanes: [{ queueId: queue?.id ?? '', priority: 5, afterSeq: '0' }],
    });
    expect(held, `one job of each key, seed ${String(random.seed)}`).toHaveLength(keyCount);
    await start(held);
    const work = random.shuffle([
      ...deal(held).map((jobs) => () => finish(jobs, random.pick(decisions))),
      ...deal(keys).map((some) => () => enqueue(some)),
      ...Array.from({ length: 40 }, () => () => settleEndings(database)),
    ]);
    await takeTurns(work, sessionCount);
    await settleAll(database);
    await promoteJobs(database);
    const stuck = await database.query(stuckKeys, [keys]);
    expect(stuck, `round ${String(round)}, seed ${String(random.seed)}`).toEqual([]);
  }
});

const heldPerQueue: Statement = {
  name: 'test_held_per_queue',
  text: `select q.id,
      count(*) filter (where j.status in ('claimed', 'running'))::integer as held,
      count(*) filter (where j.status = 'queued')::integer as due
    from holdfast.queues as q join holdfast.jobs as j on j.project_id = q.project_id and j.queue_id = q.id
    where q.concurrency = 1
    group by q.id`,
};

interface QueueState {
  readonly id: string;
  readonly held: number;
  readonly due: number;
}

it('a queue for one job at a time gives the next one whenever it is free, and never two', async () => {
  const random = seededRandom(randomInt(2 ** 32));
  const [roundCount, queueCount] = [20, 50];
  const names = Array.from({ length: queueCount }, (_, index) => `one-${String(index)}`);
  for (const name of names)
    await createQueue(database, { projectId, name, settings: { concurrency: 1 } });
  const queues = [...(await resolveQueues(database, projectId, names)).entries()];
  const lanes = Array.from({ length: sessionCount }, () => database.openLane('claims'));
  const claimOne = (lane: Lane | undefined, queueId: string) =>
    claimJobsWithinLimit(lane ?? database.openLane('claims'), {
      ...{ ...claim, projectId, queueId, limit: 5, workerId: randomUUID() },
      leaseToken: randomUUID(),
    });
  const readStates = () => database.query<QueueState>(heldPerQueue);
  let held: ClaimedJob[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    await start(held);
    const ending = held.map((job) => () => finish([job], endings.complete));
    held = [];
    const work = queues.flatMap(([queue, { id }]) => [
      () =>
        enqueueJobs(database, {
          ...{ projectId, jobs: [{ id: uuidV7(Date.now()), queue, type, payloadJson: '{}' }] },
        }),
      ...Array.from({ length: 2 }, () => async (turn: number) => {
        held.push(...(await claimOne(lanes[turn], id)));
      }),
    ]);
    const looks = Array.from({ length: 20 }, () => async () => {
      expect((await readStates()).filter((queue) => queue.held > 1)).toEqual([]);
    });
    await takeTurns(random.shuffle([...ending, ...work, ...looks]), sessionCount);
    for (const state of await readStates()) {
      const claimed = await claimOne(lanes[0], state.id);
      const expected = state.held === 0 && state.due > 0 ? 1 : 0;
      expect(claimed, `round ${String(round)}, seed ${String(random.seed)}`).toHaveLength(expected);
      held.push(...claimed);
    }
  }
});
