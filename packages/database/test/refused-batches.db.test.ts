import { addToBatch, createBatch } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBatchKit } from './support/batch-kit.ts';
import { createRace } from './support/race.ts';
import { settleAll } from './support/run-jobs.ts';
import { asForeign } from './support/unique-jobs.ts';
import type { NewBatch, Queryable } from '@holdfast/database';
import type { BatchKit } from './support/batch-kit.ts';
import type { Race } from './support/race.ts';

let race: Race;
let kit: BatchKit;

beforeAll(async () => {
  race = await createRace();
});
afterAll(async () => {
  await race.close();
});
beforeEach(() => {
  kit = createBatchKit(race.database, race.factory.projectId);
});

const refused = { code: 'batch_member_exists' };

/** How many rows there are of everything that a batch is made of. */
async function countRows(): Promise<Readonly<Record<string, number>> | undefined> {
  const [row] = await race.database.query<Record<string, number>>({
    name: 'test_batch_rows',
    text: `select
      (select count(*)::integer from holdfast.batches) as batches,
      (select count(*)::integer from holdfast.batch_callbacks) as callbacks,
      (select count(*)::integer from holdfast.job_dependencies) as dependencies,
      (select sum(total_count)::integer from holdfast.batches) as members,
      (select count(*)::integer from holdfast.jobs) as jobs`,
  });
  return row;
}

function batchOf(more: Partial<NewBatch>): NewBatch {
  return { id: uuidV7(Date.now()), kind: 'batch', jobs: [], ...more };
}

const make = (tx: Queryable | undefined, batch: NewBatch) =>
  createBatch(race.database, {
    ...{ projectId: race.factory.projectId, batch, mayRepeat: true },
    tx: tx && asForeign(tx),
  });
const add = (tx: Queryable | undefined, more: Partial<Pick<NewBatch, 'jobs' | 'batches'>>) =>
  addToBatch(race.database, {
    ...{ ...kit.key('open'), jobs: [], ...more },
    tx: tx && asForeign(tx),
  });

/** What asks for something that is there: the job `taken`, the ended job `ended`, the batch `open`, or its callback. */
const attempts: readonly (readonly [string, (tx: Queryable | undefined) => Promise<unknown>])[] = [
  [
    'a batch around a job that exists, with others before it',
    (tx) => make(tx, batchOf({ jobs: [kit.job('x'), kit.job('taken')] })),
  ],
  [
    'a graph around a job that has ended',
    (tx) => {
      const jobs = [kit.job('x'), kit.job('ended')];
      return make(tx, batchOf({ kind: 'graph', jobs, dependencies: [kit.edge('x', 'ended')] }));
    },
  ],
  [
    'a batch with a job that exists in a batch within',
    (tx) => {
      const batches = [batchOf({ jobs: [kit.job('y'), kit.job('taken')] })];
      return make(tx, batchOf({ jobs: [kit.job('x')], batches }));
    },
  ],
  [
    'a batch with a batch within that exists',
    (tx) => make(tx, batchOf({ jobs: [kit.job('x')], batches: [batchOf({ id: kit.id('open') })] })),
  ],
  [
    'a batch whose callback is a job that exists',
    (tx) => make(tx, batchOf({ jobs: [kit.job('x')], callbacks: [kit.callback('then', 'taken')] })),
  ],
  [
    'a batch whose callback is that of another one',
    (tx) => make(tx, batchOf({ jobs: [kit.job('x')], callbacks: [kit.callback('then', 'later')] })),
  ],
  [
    'a batch around a job that is a callback of another one',
    (tx) => make(tx, batchOf({ jobs: [kit.job('x'), kit.job('later')] })),
  ],
  [
    'a batch with the same batch twice',
    (tx) => {
      const inner = batchOf({});
      return make(tx, batchOf({ batches: [inner, inner] }));
    },
  ],
  ['an addition of a job that exists', (tx) => add(tx, { jobs: [kit.job('x'), kit.job('taken')] })],
  [
    'an addition of jobs and of a batch around a job that exists',
    (tx) => add(tx, { jobs: [kit.job('x')], batches: [batchOf({ jobs: [kit.job('taken')] })] }),
  ],
  [
    'an addition of a job by itself and in a batch',
    (tx) => add(tx, { jobs: [kit.job('x')], batches: [batchOf({ jobs: [kit.job('x')] })] }),
  ],
];

describe('a batch that is refused because an id is taken', () => {
  beforeEach(async () => {
    await kit.make('batch', { jobs: [kit.job('ended')] }, 'past');
    await kit.run();
    await settleAll(race.database);
    await kit.make('batch', { jobs: [kit.job('taken')] }, 'other');
    const callbacks = [kit.callback('then', 'later')];
    await kit.make('batch', { jobs: [kit.job('member')], callbacks }, 'open');
  });

  it.each(attempts)('leaves nothing in a transaction of its own: %s', async (_, attempt) => {
    const before = await countRows();
    await expect(attempt(undefined)).rejects.toMatchObject(refused);
    expect(await countRows()).toEqual(before);
  });

  it.each(attempts)(
    'leaves nothing in the caller’s transaction, which goes on: %s',
    async (_, attempt) => {
      const before = await countRows();
      await race.first.run('begin');
      await expect(attempt(race.first)).rejects.toMatchObject(refused);
      await make(race.first, batchOf({ jobs: [kit.job('mine')] }));
      await race.commit();
      expect(await countRows()).toEqual({
        ...before,
        batches: (before?.['batches'] ?? 0) + 1,
        members: (before?.['members'] ?? 0) + 1,
        jobs: (before?.['jobs'] ?? 0) + 1,
      });
      expect([...(await kit.run())].sort()).toEqual(['later', 'member', 'mine', 'taken']);
    },
  );

  it.each([
    ['batch', (tx: Queryable) => make(tx, batchOf({ jobs: [kit.job('x'), kit.job('late')] }))],
    ['addition', (tx: Queryable) => add(tx, { jobs: [kit.job('x'), kit.job('late')] })],
  ])(
    'makes the caller’s transaction useless when the id was taken at the same moment: %s',
    async (_, attempt) => {
      await race.hold((first) => make(first, batchOf({ jobs: [kit.job('late')] })));
      await race.second.run('begin');
      const { result } = await race.startBlocked(attempt);
      await race.commit();
      const before = await countRows();
      await expect(result).rejects.toMatchObject(refused);
      await expect(race.second.run('select 1')).rejects.toMatchObject({ code: '25P02' });
      // The server rolls back, and says so by the name of the command only.
      await race.second.run('commit');
      expect(await countRows()).toEqual(before);
    },
  );

  it('is no obstacle to the same one without what was taken', async () => {
    const id = uuidV7(Date.now());
    await race.first.run('begin');
    const both = batchOf({ id, jobs: [kit.job('x'), kit.job('taken')] });
    await expect(make(race.first, both)).rejects.toMatchObject(refused);
    const one = batchOf({ id, jobs: [kit.job('x')] });
    expect(await make(race.first, one)).toMatchObject({ isNew: true });
    expect(await make(race.first, one)).toMatchObject({ isNew: false });
    await race.commit();
  });
});
