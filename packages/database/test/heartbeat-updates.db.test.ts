import { enqueueJobs, extendLeases, resolveQueues, startJobs } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimFrom, createRace, laneOf } from './support/race.ts';
import type { Lease } from '@holdfast/database';
import type { Race } from './support/race.ts';

const backlogCount = 4_000;
const heldCount = 100;
const beatCount = 20;

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterAll(async () => {
  await race.close();
});

async function startLine(): Promise<readonly Lease[]> {
  const { projectId } = race.factory;
  const [queue, type] = ['beaten', 'test.job'];
  const ids = Array.from({ length: backlogCount }, () => uuidV7(Date.now()));
  const jobs = ids.map((id) => ({ id, queue, type, payloadJson: '{}' }));
  await enqueueJobs(race.database, { projectId, jobs });
  const queueId = (await resolveQueues(race.database, projectId, [queue])).get(queue)?.id ?? '';
  const lane = laneOf(race);
  const claimed = await claimFrom(lane, { projectId, queueId, type }, heldCount);
  await lane.close();
  const leases = claimed.map(({ id, leaseToken }) => ({ id, token: leaseToken }));
  const started = leases.map((lease) => ({ ...lease, startedAgoMs: 0 }));
  await startJobs(race.first, { projectId, started });
  return leases;
}

interface UpdateCounts {
  readonly all: number;
  readonly hot: number;
}

/** The counts of the table, once they include everything that the first session did. */
async function countUpdates(atLeast: number): Promise<UpdateCounts> {
  return waitFor(`${String(atLeast)} updates are counted`, async () => {
    await race.first.run('select pg_stat_force_next_flush()');
    const [counts] = await race.database.query<UpdateCounts>({
      name: 'test_count_updates',
      text: `select n_tup_upd::integer as all, n_tup_hot_upd::integer as hot
        from pg_stat_user_tables where relid = 'holdfast.jobs'::regclass`,
    });
    return counts !== undefined && counts.all >= atLeast && counts;
  });
}

/** Which part of the updates of some rounds of heartbeats touched no index. */
async function measureHeapOnlyShare(leases: readonly Lease[], before: UpdateCounts) {
  const { projectId } = race.factory;
  for (let beat = 0; beat < beatCount; beat += 1) {
    const states = await extendLeases(race.first, { projectId, leases, leaseMs: 60_000 });
    expect(states.every(({ extended }) => extended)).toBe(true);
  }
  const after = await countUpdates(before.all + beatCount * heldCount);
  return { after, share: (after.hot - before.hot) / (after.all - before.all) };
}

describe('heartbeats', () => {
  it('are heap-only updates: they touch no index', async () => {
    const leases = await startLine();
    expect(leases).toHaveLength(heldCount);
    // Each job was claimed and started.
    let before = await countUpdates(2 * heldCount);
    // A long transaction in any database of the server keeps dead rows, and with them the room for heap-only updates.
    await waitFor('19 of 20 heartbeats touch no index', async () => {
      const { after, share } = await measureHeapOnlyShare(leases, before);
      before = after;
      return share >= 0.95;
    });
  });
});
