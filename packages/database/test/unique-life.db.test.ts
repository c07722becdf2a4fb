import {
  cancelJob,
  promoteJobs,
  readJob,
  reapExpiredLeases,
  replayJob,
  retryJob,
} from '@holdfast/database';
import { uniqueScopes, uniqueUntils } from '@holdfast/domain';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRace } from './support/race.ts';
import { byHand, endings, enqueueOne, forgetJobs, uniqueJob } from './support/unique-jobs.ts';
import type { UniqueUntil } from '@holdfast/domain';
import type { Race } from './support/race.ts';
import type { ByHand } from './support/unique-jobs.ts';

let race: Race;
let start: ByHand['start'];
let finish: ByHand['finish'];
let run: ByHand['run'];

beforeAll(async () => {
  race = await createRace();
  ({ start, finish, run } = byHand(race));
});
beforeEach(() => forgetJobs(race));
afterAll(async () => {
  await race.close();
});

const key = (id: string) => ({ projectId: race.factory.projectId, id });

describe('a job with a key that waits, fails and is retried', () => {
  it('never stands in its own way', async () => {
    const { id } = await enqueueOne(race, uniqueJob({ key: 'a' }, { delayMs: 3_600_000 }));
    for (const ending of [endings.retry, endings.retry, endings.release, endings.complete]) {
      expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ id });
      await race.database.execute(`update holdfast.jobs set run_at = now()`);
      expect(await promoteJobs(race.database)).toMatchObject({ count: 1 });
      expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ id });
      await run(id, ending);
    }
    expect(await readJob(race.database, key(id))).toMatchObject({ status: 'completed' });
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ isNew: true });
  });
});

describe('every way on from every status leaves the key held or free', () => {
  const expire = `update holdfast.jobs set lock_expires_at = now() where status in ('claimed', 'running')`;
  const reap = (poisonCount: number) => async (id: string) => {
    await start(id);
    await race.database.execute(expire);
    await reapExpiredLeases(race.database, { leaseMs: 0, poisonCount });
  };
  const cancel = { reason: 'test' };
  const ways: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'is enqueued': () => Promise.resolve(),
    'is cancelled before it starts': (id) => cancelJob(race.database, { ...key(id), ...cancel }),
    'is not started in time': async () => {
      await race.database.execute(
        `update holdfast.jobs set start_deadline_at = now() - interval '1 second'`,
      );
      await promoteJobs(race.database);
    },
    'is claimed and starts': (id) => start(id),
    'is asked to end': async (id) => {
      await start(id);
      await cancelJob(race.database, { ...key(id), ...cancel });
    },
    'is cancelled while it runs': async (id) => {
      const held = await start(id);
      await cancelJob(race.database, { ...key(id), ...cancel });
      await finish(held, abandon);
    },
    'fails and waits for its retry': (id) => run(id, endings.retry),
    'is released': (id) => run(id, endings.release),
    'is given back': (id) => run(id, endings.drain),
    'fails and waits for a person': (id) => run(id, endings.fail),
    'is retried by a person': async (id) => {
      await run(id, endings.fail);
      await retryJob(race.database, key(id));
    },
    'loses its worker': reap(3),
    'takes its worker down once too often': reap(1),
    'becomes a dead letter': (id) => run(id, endings.deadLetter),
    'is replayed': async (id) => {
      await run(id, endings.deadLetter);
      await replayJob(race.database, key(id));
    },
    completes: (id) => run(id, endings.complete),
  };
  const abandon = { transition: 'abandon_jobs', executionStatus: 'cancelled' } as const;
  const freedAtEnd = new Set([
    'is cancelled before it starts',
    'is not started in time',
    'is cancelled while it runs',
    'takes its worker down once too often',
    'becomes a dead letter',
    'completes',
  ]);
  const heldUntilStart = new Set(['is enqueued', 'is replayed']);
  const isHeld: Readonly<Record<UniqueUntil, (name: string) => boolean>> = {
    done: (name) => !freedAtEnd.has(name),
    start: (name) => heldUntilStart.has(name),
    ttl: () => true,
  };
  const table = Object.entries(ways).flatMap(([name, way], index) => {
    const scope = uniqueScopes[index % uniqueScopes.length];
    return uniqueUntils.map((until) => ({ name, way, scope, until }));
  });

  it.each(table)('until $until in its $scope, when the job $name', async (row) => {
    const { name, way, scope, until } = row;
    const ttl = until === 'ttl' ? { ttlMs: 3_600_000 } : {};
    const unique = { key: 'a', until, scope, ...ttl };
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await way(id);
    const next = await enqueueOne(race, uniqueJob(unique));
    expect(next.deduplicated).toBe(isHeld[until](name));
    if (next.deduplicated) expect(next.id).toBe(id);
  });
});
