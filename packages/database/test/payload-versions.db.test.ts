import {
  claimJobs,
  claimJobsWithinLimit,
  editJob,
  emitEvents,
  enqueueJobs,
  readJob,
  readSchedule,
  replayJob,
  resolveQueues,
  runSchedule,
  subscribe,
  updateQueue,
} from '@holdfast/database';
import { claimName, jobTransitions, uuidV7 } from '@holdfast/domain';
import { makeSchedule } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBatchKit } from './support/batch-kit.ts';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { claimFrom, claimRequest, createRace, laneOf } from './support/race.ts';
import { transitionCases } from './support/transition-cases.ts';
import { enqueueAll, enqueueOne, forgetJobs, uniqueJob } from './support/unique-jobs.ts';
import type { ClaimedJob, Lane, NewJob } from '@holdfast/database';
import type { JobStatus, Transition, TransitionName } from '@holdfast/domain';
import type { MadeJob } from '@holdfast/testing';
import type { Race } from './support/race.ts';

let race: Race;
let projectId: string;

beforeAll(async () => {
  race = await createRace();
  ({ projectId } = race.factory);
});
afterAll(async () => {
  await race.close();
});

const type = 'invoice.send';

function newJob(more: Partial<NewJob> = {}): NewJob {
  return { id: uuidV7(Date.now()), queue: 'versions', type, payloadJson: '{}', ...more };
}

/** The version of a job as it is read, and as it is stored. */
async function versionOf(id: string) {
  const row = await readJob(race.database, { projectId, id });
  const { payload_version: stored } = onlyRow(await takeSnapshot(race.database, { projectId, id }));
  return { read: row?.payload_version, stored };
}

const kept = (version: number) => ({ read: version, stored: version === 1 ? null : version });

describe('a worker', () => {
  /** Jobs of the versions 1, 2 and 3 in a queue of their own. */
  async function threeVersions(more: Partial<NewJob> = {}) {
    const queue = `versions-${randomUUID()}`;
    const jobs = [1, 2, 3].map((payloadVersion) => newJob({ queue, payloadVersion, ...more }));
    const { queueIds } = await enqueueJobs(race.database, { projectId, jobs });
    return { queue, queueId: queueIds[0] ?? '' };
  }

  function claim(
    lane: Lane,
    place: Pick<MadeJob, 'projectId' | 'queueId'>,
    types: readonly string[],
  ): Promise<readonly ClaimedJob[]> {
    const request = { ...claimRequest({ ...place, type }, 7), types };
    return claimJobs(lane, {
      ...request,
      lanes: [{ queueId: place.queueId, priority: 5, afterSeq: '0' }],
    });
  }

  const takes = (...versions: readonly number[]) =>
    versions.map((version) => claimName(type, version));

  it.each([
    { name: 'without versions', types: takes(1), claimed: [1] },
    { name: 'of the release before', types: takes(2, 1), claimed: [1, 2] },
    { name: 'of the new release, with upgrades', types: takes(3, 2, 1), claimed: [1, 2, 3] },
    { name: 'of the new release, without version 1', types: takes(3, 2), claimed: [2, 3] },
    { name: 'of another type', types: ['invoice', 'invoice.send@22', '@2'], claimed: [] },
  ])('$name claims the versions that it takes and no other', async ({ types, claimed }) => {
    const { queueId } = await threeVersions();
    const limited = await threeVersions();
    const settings = { concurrency: 10 };
    await updateQueue(race.database, { projectId, name: limited.queue, settings });
    const lane = laneOf(race);
    try {
      const request = { ...claimRequest({ projectId, type }, 10), types };
      const jobs = await claim(lane, { projectId, queueId }, types);
      expect(jobs.map(({ payloadVersion }) => payloadVersion).sort()).toEqual(claimed);
      const more = await claimJobsWithinLimit(lane, { ...request, queueId: limited.queueId });
      expect(more.map(({ payloadVersion }) => payloadVersion).sort()).toEqual(claimed);
    } finally {
      await lane.close();
    }
  });

  it('of the release before never takes a job of the new one, however both race', async () => {
    const queue = `versions-${randomUUID()}`;
    const jobs = Array.from({ length: 200 }, (_, index) =>
      newJob({ queue, payloadVersion: (index % 2) + 2 }),
    );
    const { queueIds } = await enqueueJobs(race.database, { projectId, jobs });
    const place = { projectId, queueId: queueIds[0] ?? '' };
    const lanes = [takes(2), takes(3, 2), takes(2)].map((types) => ({
      types,
      lane: laneOf(race),
      claimed: new Array<number>(),
    }));
    await Promise.all(
      lanes.map(async ({ lane, types, claimed }) => {
        for (;;) {
          const found = await claim(lane, place, types);
          if (found.length === 0) return;
          claimed.push(...found.map(({ payloadVersion }) => payloadVersion));
        }
      }),
    );
    await Promise.all(lanes.map(({ lane }) => lane.close()));
    const [old, both, alsoOld] = lanes.map(({ claimed }) => claimed);
    expect([...(old ?? []), ...(alsoOld ?? [])].filter((version) => version !== 2)).toEqual([]);
    expect(both?.filter((version) => version === 3)).toHaveLength(100);
    expect(lanes.flatMap(({ claimed }) => claimed)).toHaveLength(200);
  });

  it('does not take a suspect of a version that it does not take', async () => {
    const job = await race.factory.queued({ crashCount: 1, payloadVersion: 2 });
    const lane = laneOf(race);
    try {
      expect(await claim(lane, job, [job.type])).toEqual([]);
      const claimed = await claim(lane, job, [claimName(job.type, 2)]);
      expect(claimed.map(({ id }) => id)).toEqual([job.id]);
    } finally {
      await lane.close();
    }
  });
});

describe('the version of a payload', () => {
  const names = Object.keys(jobTransitions) as TransitionName[];
  const moves = names.flatMap((name) => {
    const { from }: Transition = jobTransitions[name];
    return from.map((start): readonly [TransitionName, JobStatus] => [name, start]);
  });

  it.each(moves)('outlives %s of a job that is %s', async (name, start) => {
    const { recipe = {}, prepare, run } = transitionCases[name];
    const job: MadeJob = await race.factory.make(start, { ...recipe, payloadVersion: 7 });
    await prepare?.(race.database, job);
    await run(race.database, job, job.lease ?? { id: job.id, token: randomUUID() });
    expect(await versionOf(job.id)).toEqual(kept(7));
  });

  it('arrives by every way to make a job', async () => {
    const version = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 32_767 }));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.values(ways)), version, async (way, given) => {
        const ids = await way(given);
        expect(ids).not.toHaveLength(0);
        for (const id of ids) expect(await versionOf(id)).toEqual(kept(given));
      }),
      {
        numRuns: 60,
        examples: Object.values(ways).flatMap((way) => [
          [way, 1],
          [way, 32_767],
        ]),
      },
    );
  });

  const enqueue = async (more: Partial<NewJob>) => {
    const job = newJob(more);
    await enqueueJobs(race.database, { projectId, jobs: [job] });
    return [job.id];
  };
  const bySql = (options: object) => bySqlText(JSON.stringify(options));
  const bySqlText = async (optionsJson: string) => {
    const rows = await race.database.query<{ readonly id: string }>(
      {
        name: 'test_versions_sql',
        text: `select holdfast.enqueue('default', 'versions', $1, '{}', $2::jsonb) as id`,
      },
      [type, optionsJson],
    );
    return rows.map(({ id }) => id);
  };
  const kit = () => createBatchKit(race.database, projectId);

  /** Each makes jobs with a payload of the given version. */
  const ways: Readonly<Record<string, (payloadVersion: number) => Promise<readonly string[]>>> = {
    due: (payloadVersion) => enqueue({ payloadVersion }),
    later: (payloadVersion) => enqueue({ payloadVersion, delayMs: 60_000 }),
    held: (payloadVersion) => enqueue({ payloadVersion, parentCount: 1 }),
    unique: async (payloadVersion) => {
      const unique = { key: randomUUID() };
      const { id } = await enqueueOne(race, uniqueJob(unique, { payloadVersion }));
      return [id];
    },
    async replaced(payloadVersion) {
      const unique = { key: randomUUID(), onConflict: 'replace' } as const;
      const old = uniqueJob(unique, { payloadVersion: 5 });
      await enqueueOne(race, old);
      await enqueueOne(race, uniqueJob(unique, { payloadVersion }));
      return [old.id];
    },
    async debounced(payloadVersion) {
      const unique = { key: randomUUID(), onConflict: 'debounce', waitMs: 60_000 } as const;
      const old = uniqueJob(unique, { payloadVersion: 5 });
      await enqueueOne(race, old);
      await enqueueOne(race, uniqueJob(unique, { payloadVersion }));
      return [old.id];
    },
    async replacedInOneCall(payloadVersion) {
      const unique = { key: randomUUID(), onConflict: 'replace' } as const;
      const old = uniqueJob(unique, { payloadVersion: 5 });
      await enqueueAll(race, [old, uniqueJob(unique, { payloadVersion })]);
      return [old.id];
    },
    async queuedBehind(payloadVersion) {
      const key = randomUUID();
      const unique = { key, onConflict: 'queue_latest' } as const;
      const holder = uniqueJob(unique, { queue: key });
      const { queueIds } = await enqueueAll(race, [holder]);
      const lane = laneOf(race);
      const place = { projectId, queueId: queueIds[0] ?? '', type: holder.type };
      await claimFrom(lane, place, 1).finally(() => lane.close());
      const next = await enqueueOne(race, uniqueJob(unique, { queue: key, payloadVersion: 5 }));
      await enqueueOne(race, uniqueJob(unique, { queue: key, payloadVersion }));
      return [next.id];
    },
    sql: (payloadVersion) => bySql({ payloadVersion }),
    sqlLater: (payloadVersion) => bySql({ payloadVersion, delay: '1h' }),
    async sqlReplaced(payloadVersion) {
      const unique = { key: randomUUID(), onConflict: 'replace' };
      await bySql({ unique, payloadVersion: 5 });
      return bySql({ unique, payloadVersion });
    },
    async schedule(payloadVersion) {
      const job = { type, queue: 'versions', payload: {}, payloadVersion };
      const key = await makeSchedule(race.database, { name: `v-${randomUUID()}`, job });
      const queues = await resolveQueues(race.database, projectId, ['versions']);
      const run = await race.database.transaction(async (tx) => {
        const schedule = await readSchedule(tx, key);
        return schedule && runSchedule(race.database, { schedule, tx, queues });
      });
      return run === undefined ? [] : [run.jobId];
    },
    async callback(payloadVersion) {
      const batch = kit();
      const callback = batch.callback('then');
      await batch.make('batch', {
        jobs: [batch.job('member')],
        callbacks: [{ ...callback, job: { ...callback.job, payloadVersion } }],
      });
      await batch.end('complete', 'member');
      await batch.run();
      return [batch.id('then')];
    },
    async graph(payloadVersion) {
      const batch = kit();
      const jobs = ['a', 'b'].map((name) => batch.job(name, { payloadVersion }));
      await batch.make('chain', { jobs, dependencies: [batch.edge('a', 'b')] });
      return [batch.id('a'), batch.id('b')];
    },
    async subscription(payloadVersion) {
      const event = `shop.${randomUUID()}`;
      const job = { type, queue: 'versions', payloadVersion };
      await subscribe(race.database, { projectId, event, job });
      const events = [{ id: randomUUID(), event, dataJson: '{}' }];
      return (await emitEvents(race.database, { projectId, events })).jobIds;
    },
    async edited(payloadVersion) {
      const [id = ''] = await enqueue({ payloadVersion: 5 });
      const edit = { payloadJson: '[]', payloadVersion };
      await editJob(race.database, { projectId, id, edit });
      return [id];
    },
    async editedWithoutVersion(payloadVersion) {
      const [id = ''] = await enqueue({ payloadVersion });
      await editJob(race.database, { projectId, id, edit: { payloadJson: '[]' } });
      return [id];
    },
    async keptByAnother(payloadVersion) {
      const unique = { key: randomUUID() };
      const first = uniqueJob(unique, { payloadVersion });
      await enqueueOne(race, first);
      await enqueueOne(race, uniqueJob(unique, { payloadVersion: 5 }));
      return [first.id];
    },
    async replayed(payloadVersion) {
      const { id } = await race.factory.deadLetter({ payloadVersion });
      await replayJob(race.database, { projectId, id });
      return [id];
    },
  };

  it('comes back with the jobs that the death of another had cancelled', async () => {
    await forgetJobs(race);
    const batch = kit();
    const jobs = ['a', 'b'].map((name) =>
      batch.job(name, { payloadVersion: name === 'b' ? 4 : 1 }),
    );
    await batch.make('chain', { jobs, dependencies: [batch.edge('a', 'b')] });
    await batch.run('a');
    expect(await batch.statusOf('b')).toBe('cancelled');
    expect(await versionOf(batch.id('b'))).toEqual(kept(4));
    await replayJob(race.database, batch.key('a'));
    expect(await batch.statusOf('b')).toBe('scheduled');
    expect(await versionOf(batch.id('b'))).toEqual(kept(4));
  });

  it.each([
    ['1.0', 1],
    ['2.0', 2],
    ['3.2767e4', 32_767],
  ])('may be written as %s in JSON', async (written, version) => {
    const [id = ''] = await bySqlText(`{ "payloadVersion": ${written} }`);
    expect(await versionOf(id)).toEqual(kept(version));
  });

  it.each([0, -1, 32_768, 1.5, '2', [2]])('cannot be %j in SQL', async (payloadVersion) => {
    await expect(bySql({ payloadVersion })).rejects.toThrow(
      /payloadVersion must be a whole number from 1 to 32767/,
    );
  });

  it('is stored as nothing when it is 1', async () => {
    const [id = ''] = await enqueue({ payloadVersion: 1 });
    await expect(
      race.database.execute(`update holdfast.jobs set payload_version = 1 where id = '${id}'`),
    ).rejects.toThrow(/jobs_payload_version_range/);
  });
});
