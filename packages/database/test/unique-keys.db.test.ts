import { cancelJob, readJob, replayJob, retryJob, uniqueDigest } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { takeSnapshot } from './support/job-snapshot.ts';
import { createRace } from './support/race.ts';
import {
  asForeign,
  byHand,
  endings,
  enqueueAll,
  enqueueOne,
  forgetJobs,
  uniqueJob,
} from './support/unique-jobs.ts';
import type { UniqueJob } from '@holdfast/database';
import type { UniqueSettings } from '@holdfast/domain';
import type { Race } from './support/race.ts';
import type { ByHand } from './support/unique-jobs.ts';

let race: Race;
let start: ByHand['start'];
let run: ByHand['run'];

beforeAll(async () => {
  race = await createRace();
  ({ start, run } = byHand(race));
});
beforeEach(() => forgetJobs(race));
afterAll(async () => {
  await race.close();
});

const key = (id: string) => ({ projectId: race.factory.projectId, id });

const twice = async (unique: UniqueSettings, more: Partial<UniqueJob> = {}) => {
  const first = await enqueueOne(race, uniqueJob(unique, { payloadJson: '1' }));
  const second = await enqueueOne(race, uniqueJob(unique, { payloadJson: '2', ...more }));
  return { first, second };
};

describe('a key that nobody holds', () => {
  it('goes to the job, which is inserted with it', async () => {
    const job = uniqueJob({ key: 'a' });
    expect(await enqueueOne(race, job)).toMatchObject({
      id: job.id,
      status: 'queued',
      isNew: true,
      deduplicated: false,
    });
    const [row] = (await takeSnapshot(race.database, key(job.id))).jobs;
    const digest = uniqueDigest({ scope: 'type', key: 'a', type: job.type, queue: job.queue });
    expect(row?.['unique_lock']).toEqual({ digest, scope: 'type', key: 'a', until: 'done' });
  });

  it('is another one in another scope, type, queue or project', async () => {
    await enqueueOne(race, uniqueJob({ key: 'a' }));
    await enqueueOne(race, uniqueJob({ key: 'a', scope: 'queue' }));
    await enqueueOne(race, uniqueJob({ key: 'a', scope: 'project' }));
    const others = [
      uniqueJob({ key: 'a' }, { type: 'test.other' }),
      uniqueJob({ key: 'a', scope: 'queue' }, { queue: 'other' }),
      uniqueJob({ key: 'b', scope: 'project' }),
    ];
    const { outcomes } = await enqueueAll(race, others);
    expect(outcomes.map(({ isNew }) => isNew)).toEqual([true, true, true]);
  });
});

describe('a key that is held', () => {
  it.each(['type', 'queue', 'project'] as const)('is found by its scope: %s', async (scope) => {
    const { first, second } = await twice(
      { key: 'a', scope },
      {
        queue: scope === 'queue' ? 'unique' : 'elsewhere',
        type: scope === 'type' ? 'test.job' : 'test.else',
      },
    );
    expect(second).toMatchObject({ id: first.id, deduplicated: true, conflict: 'kept' });
  });

  it('keeps the holder as it is by default, and names it with its status', async () => {
    const { first, second } = await twice({ key: 'a' });
    expect(second).toEqual({
      id: first.id,
      status: 'queued',
      isNew: false,
      deduplicated: true,
      conflict: 'kept',
      holderId: undefined,
    });
    expect(await readJob(race.database, key(first.id))).toMatchObject({ payload: 1 });
  });

  it('gives a holder that has not started the new content', async () => {
    const { first, second } = await twice(
      { key: 'a', onConflict: 'replace' },
      { priority: 2, tags: ['x'], metadataJson: '{"n":1}' },
    );
    expect(second).toMatchObject({ id: first.id, deduplicated: true, conflict: 'replaced' });
    expect(await readJob(race.database, key(first.id))).toMatchObject({
      payload: 2,
      priority: 2,
      tags: ['x'],
      metadata: { n: 1 },
      status: 'queued',
    });
  });

  it('keeps a holder that has started, or is of another type', async () => {
    const unique = { key: 'a', scope: 'project', onConflict: 'replace' } as const;
    const first = await enqueueOne(race, uniqueJob(unique));
    const other = await enqueueOne(race, uniqueJob(unique, { type: 'test.other' }));
    expect(other).toMatchObject({ id: first.id, conflict: 'kept' });
    await run(first.id, endings.retry);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({
      id: first.id,
      status: 'scheduled',
      conflict: 'kept',
    });
  });

  it('refuses the whole call with reject, and leaves the transaction usable', async () => {
    const first = await enqueueOne(race, uniqueJob({ key: 'a' }));
    const changed = await enqueueOne(race, uniqueJob({ key: 'b', onConflict: 'replace' }));
    await race.first.run('begin');
    const jobs = [
      uniqueJob({ key: 'b', onConflict: 'replace' }, { payloadJson: '"changed"' }),
      uniqueJob({ key: 'c', until: 'ttl', ttlMs: 60_000 }),
      uniqueJob({ key: 'a', onConflict: 'reject' }),
      uniqueJob(undefined),
    ];
    await expect(enqueueAll(race, jobs, { tx: asForeign(race.first) })).rejects.toMatchObject({
      code: 'unique_key_held',
      key: 'a',
      holderId: first.id,
    });
    const after = await enqueueOne(race, uniqueJob({ key: 'c' }), { tx: asForeign(race.first) });
    await race.commit();
    expect(after).toMatchObject({ isNew: true });
    expect(await readJob(race.database, key(changed.id))).toMatchObject({ payload: {} });
    for (const { id } of jobs) expect(await readJob(race.database, key(id))).toBeUndefined();
  });
});

describe('a key until done', () => {
  const unique = { key: 'a' };

  it.each(['retry', 'release', 'drain', 'fail'] as const)('is still held after %s', async (how) => {
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await run(id, endings[how]);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ id, conflict: 'kept' });
  });

  it.each(['complete', 'deadLetter'] as const)('is free after %s', async (how) => {
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await run(id, endings[how]);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ isNew: true });
  });

  it('is free after a cancel', async () => {
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await cancelJob(race.database, { ...key(id), reason: 'test' });
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ isNew: true });
  });

  it('is freed by its own holder only, not by the end of a job that had it before', async () => {
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await run(id, endings.deadLetter);
    const next = await enqueueOne(race, uniqueJob(unique));
    await race.database.execute(`delete from holdfast.jobs where id = '${id}'`);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ id: next.id });
  });
});

describe('a key until start', () => {
  it('is free from the first claim on, and a retry does not take it again', async () => {
    const unique = { key: 'a', until: 'start' } as const;
    const { first, second } = await twice(unique);
    expect(second).toMatchObject({ id: first.id, conflict: 'kept' });
    await run(first.id, endings.drain);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ isNew: true });
  });
});

describe('a key until its time is over', () => {
  it('is held whatever becomes of the job', async () => {
    const unique = { key: 'a', until: 'ttl', ttlMs: 3_600_000 } as const;
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await run(id, endings.complete);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ id, status: 'completed' });
    await race.database.execute('update holdfast.unique_locks set expires_at = now()');
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ isNew: true });
  });
});

describe('debounce', () => {
  const unique = { key: 'a', onConflict: 'debounce', waitMs: 60_000, maxWaitMs: 90_000 } as const;
  const waitMs = async (id: string) => {
    const row = await readJob(race.database, key(id));
    return (row?.run_at?.getTime() ?? 0) - (row?.created_at.getTime() ?? 0);
  };

  it('waits anew with each call, no longer than its maximum', async () => {
    const letPass = (seconds: number) =>
      race.database.execute(`update holdfast.jobs set
        created_at = created_at - interval '${String(seconds)} s', run_at = run_at - interval '${String(seconds)} s'`);
    const first = await enqueueOne(race, uniqueJob(unique, { payloadJson: '1' }));
    await letPass(10);
    const second = await enqueueOne(race, uniqueJob(unique, { payloadJson: '2' }));
    expect(first).toMatchObject({ status: 'scheduled', isNew: true });
    expect(second).toMatchObject({ id: first.id, conflict: 'debounced' });
    expect(await readJob(race.database, key(first.id))).toMatchObject({ payload: 2 });
    expect(await waitMs(first.id)).toBeGreaterThanOrEqual(70_000);
    await letPass(80);
    await enqueueOne(race, uniqueJob(unique));
    expect(await waitMs(first.id)).toBe(90_000);
  });

  it('begins anew once the job has started', async () => {
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await race.database.execute(
      `update holdfast.jobs set status = 'queued', seq = 1, run_at = now()`,
    );
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ id, conflict: 'replaced' });
    await start(id);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ isNew: true });
  });
});

describe('a call that is repeated because its answer was lost', () => {
  it('finds its own job, which is not deduplicated against itself', async () => {
    const job = uniqueJob({ key: 'a' });
    await enqueueOne(race, job);
    expect(await enqueueOne(race, job, { mayRepeat: true })).toMatchObject({
      id: job.id,
      isNew: false,
      deduplicated: false,
      status: 'queued',
    });
  });

  it('finds it also when it has ended, and whoever has the key now', async () => {
    const job = uniqueJob({ key: 'a' });
    await enqueueOne(race, job);
    await run(job.id, endings.complete);
    const again = { id: job.id, isNew: false, deduplicated: false, status: 'completed' };
    expect(await enqueueOne(race, job)).toMatchObject(again);
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ isNew: true });
    expect(await enqueueOne(race, job, { mayRepeat: true })).toMatchObject(again);
  });
});

describe('a replay', () => {
  it('takes the key again', async () => {
    const { id } = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await run(id, endings.deadLetter);
    expect(await replayJob(race.database, key(id))).toMatchObject({ done: true });
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ id });
  });

  it('is refused while another job holds the key', async () => {
    const { id } = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await run(id, endings.deadLetter);
    const other = await enqueueOne(race, uniqueJob({ key: 'a' }));
    expect(await replayJob(race.database, key(id))).toEqual({
      done: false,
      reason: 'unique_key_held',
      holderId: other.id,
    });
    expect(await readJob(race.database, key(id))).toMatchObject({ status: 'dead_letter' });
    await run(other.id, endings.complete);
    expect(await replayJob(race.database, key(id))).toMatchObject({ done: true });
  });

  it('begins the time of the key anew', async () => {
    const unique = { key: 'a', until: 'ttl', ttlMs: 3_600_000 } as const;
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await run(id, endings.deadLetter);
    await race.database.execute('update holdfast.unique_locks set expires_at = now()');
    expect(await replayJob(race.database, key(id))).toMatchObject({ done: true });
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ id, conflict: 'kept' });
  });

  it('holds a key until start again until the next claim', async () => {
    const unique = { key: 'a', until: 'start' } as const;
    const { id } = await enqueueOne(race, uniqueJob(unique));
    await run(id, endings.deadLetter);
    await replayJob(race.database, key(id));
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ id, conflict: 'kept' });
    await start(id);
    expect(await enqueueOne(race, uniqueJob(unique))).toMatchObject({ isNew: true });
  });
});

describe('a person who retries a failed job', () => {
  it('finds that it has held its key all the time', async () => {
    const { id } = await enqueueOne(race, uniqueJob({ key: 'a' }));
    await run(id, endings.fail);
    expect(await enqueueOne(race, uniqueJob({ key: 'a' }))).toMatchObject({ id });
    expect(await retryJob(race.database, key(id))).toMatchObject({ done: true });
  });
});

describe('several jobs of one call with one key', () => {
  it('are taken in their order', async () => {
    const [a, b, c] = [uniqueJob({ key: 'a' }), uniqueJob(undefined), uniqueJob({ key: 'a' })];
    const { outcomes, insertedIds } = await enqueueAll(race, [a, b, c]);
    expect(insertedIds).toEqual(new Set([a.id, b.id]));
    expect(outcomes.map(({ id, conflict }) => [id, conflict])).toEqual([
      [a.id, undefined],
      [b.id, undefined],
      [a.id, 'kept'],
    ]);
  });

  it('leave the newest content in the place of the first', async () => {
    const unique = { key: 'a', onConflict: 'queue_latest' } as const;
    const jobs = ['1', '2', '3'].map((payloadJson) => uniqueJob(unique, { payloadJson }));
    const { outcomes, insertedIds } = await enqueueAll(race, jobs);
    const id = jobs[0]?.id ?? '';
    expect(insertedIds).toEqual(new Set([id]));
    expect(outcomes.map((outcome) => outcome.id)).toEqual([id, id, id]);
    expect(await readJob(race.database, key(id))).toMatchObject({ payload: 3 });
  });

  it('reject each other', async () => {
    const unique = { key: 'a', onConflict: 'reject' } as const;
    const call = enqueueAll(race, [uniqueJob(unique), uniqueJob(unique)]);
    await expect(call).rejects.toMatchObject({ code: 'unique_key_held' });
  });

  it('must not differ in what they say of the key', async () => {
    const jobs = [uniqueJob({ key: 'a' }), uniqueJob({ key: 'a', onConflict: 'replace' })];
    await expect(enqueueAll(race, jobs)).rejects.toMatchObject({ code: 'options_invalid' });
  });
});

describe('a key', () => {
  it.each([
    ['of 3 000 bytes', 'x'.repeat(3_000)],
    ['of 513 bytes in fewer characters', 'é'.repeat(256) + 'x'],
    ['that is empty', ''],
    ['with a NUL', 'a\0b'],
    ['with a lone surrogate', 'a\ud800'],
  ])('%s is refused by the name of its field', async (_, text) => {
    const call = enqueueOne(race, uniqueJob({ key: text }));
    await expect(call).rejects.toThrow(/unique\.key must be 1 to 512 bytes/);
  });

  it.each(['x'.repeat(512), 'é'.repeat(256), `"'\\{},\n\u{1f600}`])(
    'may be any text of 512 bytes: %j',
    async (text) => {
      const { id } = await enqueueOne(race, uniqueJob({ key: text }));
      expect(await enqueueOne(race, uniqueJob({ key: text }))).toMatchObject({ id });
    },
  );

  it('has the same digest in SQL, and no other pair of scope and text has it', async () => {
    const names = [
      { scope: 'type', type: 'a', queue: 'b', key: '1' },
      { scope: 'queue', type: 'a', queue: 'é', key: '1' },
      { scope: 'type', type: 'a1', queue: 'b', key: '' },
      { scope: 'project', type: 'a', queue: 'b', key: '1:a1' },
    ] as const;
    const digests = names.map(uniqueDigest);
    expect(new Set(digests).size).toBe(names.length);
    for (const [index, { scope, type, queue, key: text }] of names.entries()) {
      const owner = { type, queue, project: '' }[scope];
      const [row] = await race.database.query<{ digest: string }>(
        {
          name: 'test_digest',
          text: `select encode(holdfast.unique_digest($1, $2, $3), 'hex') as digest`,
        },
        [scope, owner, text],
      );
      expect(row?.digest).toBe(digests[index]);
    }
  });
});

it('a job of another project does not know the key', async () => {
  const job = uniqueJob({ key: 'a', scope: 'project' });
  await enqueueOne(race, job);
  const other = { ...race.factory, projectId: uuidV7(Date.now()) };
  await race.database.execute(
    `insert into holdfast.projects (id, slug, name) values ('${other.projectId}', '${randomUUID()}', 'x')`,
  );
  const outcome = await enqueueOne({ ...race, factory: other }, { ...job, id: randomUUID() });
  expect(outcome).toMatchObject({ isNew: true });
});
