import {
  claimJobsWithinLimit,
  enqueueJobs,
  finishJobs,
  pauseQueue,
  resolveQueues,
  startJobs,
  updateQueue,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { asLane, claimFrom, claimRequest, createRace, laneOf } from './support/race.ts';
import type { Lane, Queryable } from '@holdfast/database';
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

interface Line {
  readonly projectId: string;
  readonly queueId: string;
  readonly name: string;
  readonly type: string;
  readonly ids: readonly string[];
}

/** A queue of its own with that many due jobs. */
async function makeLine(count: number, concurrency?: number): Promise<Line> {
  const { projectId } = race.factory;
  const name = `line-${randomUUID()}`;
  const type = 'test.job';
  const ids = Array.from({ length: count }, () => uuidV7(Date.now()));
  const jobs = ids.map((id) => ({ id, queue: name, type, payloadJson: '{}' }));
  await enqueueJobs(race.database, { projectId, jobs });
  const queueId = (await resolveQueues(race.database, projectId, [name])).get(name)?.id ?? '';
  if (concurrency !== undefined) await limit(race.database, { projectId, name }, concurrency);
  return { projectId, queueId, name, type, ids };
}

async function limit(db: Race['database'], key: Pick<Line, 'projectId' | 'name'>, most: number) {
  await updateQueue(db, { ...key, settings: { concurrency: most } });
}

function pause(db: Queryable, { projectId, name }: Line) {
  return pauseQueue(db, { projectId, name, by: 'test', reason: undefined, until: undefined });
}

function claimLimited(lane: Lane, line: Line, most = 10) {
  return claimJobsWithinLimit(lane, { ...claimRequest(line, most), queueId: line.queueId });
}

describe('claiming from a queue without a limit', () => {
  it('two claimers take disjoint jobs, the oldest first', async () => {
    const line = await makeLine(10);
    const mine = await race.hold(() => claimFrom(asLane(race.first), line, 4));
    const theirs = await claimFrom(asLane(race.second), line, 10);
    await race.commit();
    expect(mine.map(({ id }) => id).sort()).toEqual(line.ids.slice(0, 4).sort());
    expect(theirs.map(({ id }) => id).sort()).toEqual(line.ids.slice(4).sort());
  });

  it.each([
    'enable_hashjoin, enable_mergejoin, enable_sort, enable_hashagg, enable_material',
    'enable_nestloop',
    'enable_tidscan',
    // Leaves a nested loop that runs the pick again and again, if the pick is one that can be run again.
    'enable_tidscan, enable_hashjoin, enable_mergejoin, enable_material',
  ])('never takes more than was asked for, with %s off', async (switches) => {
    const line = await makeLine(60);
    const connection = await openHandConnection(race.url);
    for (const name of switches.split(', ')) await connection.run(`set ${name} = off`);
    const claimed = await claimFrom(asLane(connection), line, 10);
    expect(claimed.map(({ id }) => id).sort()).toEqual(line.ids.slice(0, 10).sort());
    await connection.close();
  });

  it('with other claimers at work, never takes more than was asked for', async () => {
    const line = await makeLine(200);
    const lanes = Array.from({ length: 8 }, () => laneOf(race));
    const rounds = lanes.map(async (lane) => {
      const taken: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        taken.push((await claimFrom(lane, line, 5)).length);
      }
      return taken;
    });
    const counts = (await Promise.all(rounds)).flat();
    expect(Math.max(...counts)).toBeLessThanOrEqual(5);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200);
    await Promise.all(lanes.map((lane) => lane.close()));
  });

  it('gives nothing once a pause is committed', async () => {
    const line = await makeLine(2);
    await race.hold((first) => pause(first, line));
    // The pause is not committed yet: it has not happened.
    expect(await claimFrom(asLane(race.second), line, 1)).toHaveLength(1);
    await race.commit();
    expect(await claimFrom(asLane(race.second), line, 1)).toEqual([]);
  });

  it('gives nothing once the queue has a limit', async () => {
    const line = await makeLine(2, 1);
    expect(await claimFrom(asLane(race.second), line)).toEqual([]);
  });

  it('gives nothing of another project', async () => {
    const line = await makeLine(2);
    expect(await claimFrom(asLane(race.second), { ...line, projectId: randomUUID() })).toEqual([]);
  });

  it('gives a returned job back at its old place in the line', async () => {
    const line = await makeLine(3);
    const [taken] = await claimFrom(asLane(race.first), line, 1);
    if (taken === undefined) throw new Error('Nothing was claimed');
    const decision = { transition: 'return_jobs', executionStatus: 'returned' } as const;
    const lease = { id: taken.id, token: taken.leaseToken };
    const ended = { executionSeq: 1, startedAgoMs: 0, finishedAgoMs: 0, decision };
    const { projectId } = line;
    await finishJobs(race.database, {
      projectId,
      transition: 'return_jobs',
      jobs: [{ ...lease, ...ended }],
    });
    const [again] = await claimFrom(asLane(race.first), line, 1);
    expect(again).toMatchObject({ id: taken.id, seq: taken.seq, attempt: 1, executionSeq: 2 });
  });
});

describe('claiming from a queue with a limit', () => {
  it('waits for a pause that is being written, and then gives nothing', async () => {
    const line = await makeLine(3, 2);
    await race.hold((first) => pause(first, line));
    const { result } = await race.startBlocked(async () => {
      await race.second.run('begin');
      const claimed = await claimLimited(asLane(race.second), line);
      await race.second.run('commit');
      return claimed;
    });
    await race.commit();
    expect(await result).toEqual([]);
  });

  it('makes a pause wait until the claim is committed', async () => {
    const line = await makeLine(3, 2);
    const claimed = await race.hold(() => claimLimited(asLane(race.first), line));
    const { result } = await race.startBlocked((second) => pause(second, line));
    await race.commit();
    expect(await result).toBe(line.queueId);
    expect(claimed).toHaveLength(2);
    expect(await claimLimited(asLane(race.second), line)).toEqual([]);
  });

  it('makes the next claimer wait and count', async () => {
    const line = await makeLine(5, 3);
    const mine = await race.hold(() => claimLimited(asLane(race.first), line, 2));
    const { result } = await race.startBlocked(async () => {
      await race.second.run('begin');
      const claimed = await claimLimited(asLane(race.second), line);
      await race.second.run('commit');
      return claimed;
    });
    await race.commit();
    expect(mine).toHaveLength(2);
    expect(await result).toHaveLength(1);
  });

  it('counts jobs whose handler runs already', async () => {
    const line = await makeLine(5, 2);
    const lane = laneOf(race);
    const claimed = await claimLimited(lane, line);
    const started = claimed.map(({ id, leaseToken }) => ({
      id,
      token: leaseToken,
      startedAgoMs: 0,
    }));
    await startJobs(race.database, { projectId: line.projectId, started });
    expect(claimed).toHaveLength(2);
    expect(await claimLimited(lane, line)).toEqual([]);
    await lane.close();
  });

  it('counts suspects within the limit', async () => {
    const suspects = [
      await race.factory.queued({ crashCount: 1 }),
      await race.factory.queued({ crashCount: 1, queue: `shared-${randomUUID()}` }),
    ];
    const [, job] = suspects;
    if (job === undefined) throw new Error('No suspect was made');
    const { projectId, queue, queueId, type } = job;
    const ids = [uuidV7(Date.now()), uuidV7(Date.now())];
    const jobs = ids.map((id) => ({ id, queue, type, payloadJson: '{}' }));
    await enqueueJobs(race.database, { projectId, jobs });
    await limit(race.database, { projectId, name: queue }, 1);
    const line = { projectId, queueId, name: queue, type, ids };
    const lane = laneOf(race);
    expect(await claimLimited(lane, line)).toHaveLength(1);
    expect(await claimLimited(lane, line)).toEqual([]);
    await lane.close();
  });

  it('never has more than the limit under way with 16 claimers', async () => {
    const most = 3;
    const line = await makeLine(60, most);
    const lanes = Array.from({ length: 16 }, () => laneOf(race));
    const watch = createWatch();
    const done = new Set<string>();
    await Promise.all(lanes.map((lane) => workOff({ lane, line, watch, done })));
    expect(watch.highest()).toBeLessThanOrEqual(most);
    expect([...done].sort()).toEqual([...line.ids].sort());
    await Promise.all(lanes.map((lane) => lane.close()));
  });
});

/** Keeps the highest number of jobs that were under way at once, as the claimers and as the database see it. */
function createWatch() {
  let held = 0;
  let highest = 0;
  const note = (count: number): void => {
    highest = Math.max(highest, count);
  };
  return {
    highest: () => highest,
    async while(count: number, look: () => Promise<number>): Promise<void> {
      held += count;
      note(held);
      note(await look());
      held -= count;
    },
  };
}

interface Shift {
  readonly lane: Lane;
  readonly line: Line;
  readonly watch: ReturnType<typeof createWatch>;
  readonly done: Set<string>;
}

async function workOff({ lane, line, watch, done }: Shift): Promise<void> {
  const { projectId } = line;
  const transition = 'complete_jobs';
  const decision = { transition, executionStatus: 'completed' } as const;
  while (done.size < line.ids.length) {
    const claimed = await claimLimited(lane, line);
    if (claimed.length === 0) continue;
    await watch.while(claimed.length, () => countHeld(line));
    const jobs = claimed.map(({ id, leaseToken, executionSeq }) => {
      return { id, token: leaseToken, executionSeq, startedAgoMs: 0, finishedAgoMs: 0, decision };
    });
    for (const id of await finishJobs(race.database, { projectId, transition, jobs })) done.add(id);
  }
}

async function countHeld({ queueId }: Line): Promise<number> {
  const text = `select count(*)::integer as count from holdfast.jobs
    where queue_id = $1 and status in ('claimed', 'running')`;
  const statement = { name: 'test_count_held', text };
  const [row] = await race.database.query<{ count: number }>(statement, [queueId]);
  return row?.count ?? 0;
}
