import { createQueue, migrate, readJob, uniqueDigest } from '@holdfast/database';
import { isUuid, parseDurationMs } from '@holdfast/domain';
import { createEmptyDatabase } from '@holdfast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRace } from './support/race.ts';
import { readStoredJobs } from './support/stored-jobs.ts';
import { byHand, endings, enqueueOne, forgetJobs, uniqueJob } from './support/unique-jobs.ts';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
beforeEach(() => forgetJobs(race));
afterAll(async () => {
  await race.close();
});

const place = { project: 'default', queue: 'from-sql', type: 'test.job', payload: '{"n":1}' };

async function enqueue(options: unknown = {}, more: Partial<typeof place> = {}): Promise<string> {
  const { project, queue, type, payload } = { ...place, ...more };
  const [row] = await race.database.query<{ id: string }>(
    {
      name: 'test_sql_enqueue',
      text: 'select holdfast.enqueue($1, $2, $3, $4::jsonb, $5::jsonb) as id',
    },
    [project, queue, type, payload, JSON.stringify(options)],
  );
  return row?.id ?? '';
}

const read = (id: string) => readJob(race.database, { projectId: race.factory.projectId, id });

describe('holdfast.enqueue', () => {
  it('needs a project, a queue, which it makes, and a type', async () => {
    const [row] = await race.database.query<{ id: string }>({
      name: 'test_sql_enqueue_short',
      text: `select holdfast.enqueue('default', 'made-by-sql', 'test.job') as id`,
    });
    expect(isUuid(row?.id ?? '')).toBe(true);
    expect(row?.id.charAt(14)).toBe('7');
    expect(await read(row?.id ?? '')).toMatchObject({
      queue: 'made-by-sql',
      type: 'test.job',
      status: 'queued',
      payload: {},
      priority: 5,
      max_attempts: 5,
      timeout_ms: 300_000,
      tags: null,
      metadata: null,
    });
  });

  it('gives jobs ids that sort in the order of the calls', async () => {
    const ids: string[] = [];
    // By itself the function takes less than a millisecond, the unit of the ids’ first digits.
    const newId = { name: 'test_uuid_v7', text: 'select holdfast.uuid_v7() as id' };
    for (let call = 0; call < 500; call += 1) {
      const [row] = await race.database.query<{ id: string }>(newId);
      ids.push(row?.id ?? '');
    }
    expect(ids.every((id) => isUuid(id) && /^.{14}7.{4}[89ab]/.test(id))).toBe(true);
    expect([...ids].sort()).toEqual(ids);
  });

  it('takes every option', async () => {
    const runAt = new Date(Date.now() + 3_600_000).toISOString();
    const id = await enqueue({
      ...{ runAt, priority: 1, tags: ['a', 'b'], metadata: { nested: { none: null } } },
      ...{ maxAttempts: 3, timeout: '2m', startDeadline: 'P1D' },
    });
    const row = await read(id);
    expect(row).toMatchObject({
      ...{ status: 'scheduled', priority: 1, tags: ['a', 'b'], max_attempts: 3 },
      ...{ metadata: { nested: { none: null } }, timeout_ms: 120_000, payload: { n: 1 } },
    });
    expect(row?.run_at?.toISOString()).toBe(runAt);
    const [stored] = await readStoredJobs(race.database, [id]);
    const deadline = new Date(String(stored?.settings['start_deadline_at'])).getTime();
    expect(deadline - (row?.created_at.getTime() ?? 0)).toBeGreaterThan(86_399_000);
  });

  it('counts a null as absent, and an instant that has passed as now', async () => {
    const id = await enqueue({ delay: null, runAt: '2020-01-01T00:00:00Z', unique: null });
    expect(await read(id)).toMatchObject({ status: 'queued' });
  });

  it('takes what the queue says of jobs that say nothing', async () => {
    const jobDefaults = { maxAttempts: 9, timeoutMs: 1_000 };
    const { projectId } = race.factory;
    await createQueue(race.database, { projectId, name: 'own', settings: { jobDefaults } });
    const id = await enqueue({}, { queue: 'own' });
    expect(await read(id)).toMatchObject({ max_attempts: 9, timeout_ms: 1_000 });
  });

  it('makes one job of an id, also when it has ended', async () => {
    const id = '019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90';
    expect(await enqueue({ id })).toBe(id);
    expect(await enqueue({ id, priority: 1 })).toBe(id);
    expect(await read(id)).toMatchObject({ priority: 5 });
    await byHand(race).run(id, endings.complete);
    expect(await enqueue({ id })).toBe(id);
    expect(await read(id)).toMatchObject({ status: 'completed' });
  });

  it.each([
    [{ dealy: '5m' }, /there is no option "dealy"/],
    [{ unique: { key: 'a', untill: 'done' } }, /there is no option "unique\.untill"/],
    [[], /options must be an object/],
    [{ unique: 'a' }, /unique must be an object/],
    [{ id: 'a' }, /id must be a UUID/],
    [{ delay: 'soon' }, /delay must be milliseconds or a duration/],
    [{ delay: -1 }, /delay must be/],
    [{ delay: '1m', runAt: '2030-01-01T00:00:00Z' }, /cannot both be set/],
    [{ runAt: 'tomorrow' }, /runAt must be an RFC 3339/],
    [{ runAt: '9999-01-01T00:00:00Z' }, /within the next ten years/],
    [{ priority: 10 }, /priority must be/],
    [{ priority: 1.5 }, /priority must be/],
    [{ priority: '1' }, /priority must be/],
    [{ tags: ['a', 'a'] }, /tags must be/],
    [{ tags: 'a' }, /tags must be/],
    [{ metadata: [] }, /metadata must be an object/],
    [{ metadata: { a: 'x'.repeat(8_200) } }, /metadata must be at most/],
    [{ maxAttempts: 0 }, /maxAttempts must be/],
    [{ timeout: '2d' }, /timeout must be/],
    [{ startDeadline: 0 }, /startDeadline must be/],
    [{ unique: {} }, /unique\.key must be/],
    [{ unique: { key: 'x'.repeat(3_000) } }, /unique\.key must be 1 to 512 bytes/],
    [{ unique: { key: 'a', scope: 'world' } }, /unique\.scope must be one of/],
    [{ unique: { key: 'a', until: 'ttl' } }, /unique\.ttl must be/],
    [{ unique: { key: 'a', ttl: '1m' } }, /goes with until "ttl" only/],
    [{ unique: { key: 'a', onConflict: 'debounce' } }, /unique\.wait must be/],
    [{ unique: { key: 'a', wait: '1m' } }, /go with onConflict "debounce" only/],
    [
      { unique: { key: 'a', onConflict: 'debounce', wait: '2m', maxWait: '1m' } },
      /not less than wait/,
    ],
    [{ unique: { key: 'a', onConflict: 'queue_latest', until: 'start' } }, /must be "done"/],
    [
      { unique: { key: 'a', onConflict: 'debounce', wait: 1 }, delay: 1 },
      /unique\.wait is the delay/,
    ],
    [{ priority: -1, delay: true, x: 1 }, /"x"; delay must be.*; priority must be/],
  ])('refuses %j', async (options, message) => {
    await expect(enqueue(options)).rejects.toThrow(message);
    await expect(enqueue(options)).rejects.toMatchObject({ code: '22023' });
  });

  it.each([
    [{ project: 'nobody' }, /there is no project "nobody"/],
    [{ queue: 'a b' }, /queue must be/],
    [{ type: '' }, /type must be/],
    [{ payload: JSON.stringify('x'.repeat(1_100_000)) }, /payload must be at most 1 MB/],
  ])('refuses %j in place of what it needs', async (more, message) => {
    await expect(enqueue({}, more)).rejects.toThrow(message);
  });
});

describe('a unique key from SQL', () => {
  const unique = { key: 'a' };

  it('is the same as from the library', async () => {
    const id = await enqueue({ unique });
    const job = uniqueJob(unique, { type: place.type, queue: place.queue });
    expect(await enqueueOne(race, job)).toMatchObject({ id, conflict: 'kept' });
    expect(await enqueue({ unique })).toBe(id);
    const [row] = await readStoredJobs(race.database, [id]);
    const digest = uniqueDigest({ scope: 'type', key: 'a', type: place.type, queue: place.queue });
    const lock = { digest, scope: 'type', key: 'a', until: 'done' };
    expect(row?.settings['unique_lock']).toEqual(lock);
  });

  it('lets the newest content replace that of a job which waits', async () => {
    const replacing = { ...unique, onConflict: 'replace' };
    const id = await enqueue({ unique: replacing });
    const more = { priority: 2, tags: ['t'], metadata: { m: 1 }, unique: replacing };
    expect(await enqueue(more, { payload: '2' })).toBe(id);
    expect(await read(id)).toMatchObject({
      payload: 2,
      priority: 2,
      tags: ['t'],
      metadata: { m: 1 },
    });
  });

  it('debounces', async () => {
    const debounced = { ...unique, onConflict: 'debounce', wait: '1h', maxWait: '2h' };
    const id = await enqueue({ unique: debounced });
    expect(await read(id)).toMatchObject({ status: 'scheduled' });
    expect(await enqueue({ unique: debounced }, { payload: '2' })).toBe(id);
    expect(await read(id)).toMatchObject({ payload: 2 });
  });

  it('queues one job behind a running one', async () => {
    const latest = { ...unique, onConflict: 'queue_latest' };
    const id = await enqueue({ unique: latest });
    await byHand(race).start(id);
    const next = await enqueue({ unique: latest });
    expect(await read(next)).toMatchObject({ status: 'scheduled', pending_parents: 1 });
    expect(await enqueue({ unique: latest }, { payload: '2' })).toBe(next);
    expect(await read(next)).toMatchObject({ payload: 2 });
  });

  it('rejects with the holder’s id as detail', async () => {
    const id = await enqueue({ unique });
    const call = enqueue({ unique: { ...unique, onConflict: 'reject' } });
    await expect(call).rejects.toMatchObject({ code: '23505', detail: id });
  });

  it('is held for its time', async () => {
    const timed = { ...unique, until: 'ttl', ttl: '1h' };
    const id = await enqueue({ unique: timed });
    await byHand(race).run(id, endings.complete);
    expect(await enqueue({ unique: timed })).toBe(id);
  });
});

describe('what somebody subscribed to', () => {
  it('is announced as by the library', async () => {
    await race.database.execute(
      `insert into holdfast.event_subscriptions (project_id, id, event)
       select id, gen_random_uuid(), event
       from holdfast.projects, unnest('{JobQueued,JobScheduled,JobDeduplicated}'::text[]) as event`,
    );
    const calls = [{}, { delay: '1h' }, { unique: { key: 'a' } }, { unique: { key: 'a' } }];
    for (const options of calls) await enqueue(options);
    const bySql = await announced();
    const { queue, type } = place;
    for (const { unique, delay } of calls as readonly {
      unique?: { key: string };
      delay?: string;
    }[]) {
      const delayMs = delay === undefined ? undefined : 3_600_000;
      await enqueueOne(race, uniqueJob(unique && { key: 'b' }, { queue, type, delayMs }));
    }
    expect(bySql).toEqual(await announced());
    expect(bySql.map(([event]) => event)).toEqual([
      ...['JobQueued', 'JobScheduled', 'JobQueued', 'JobDeduplicated'],
    ]);
  });

  async function announced() {
    const rows = await race.database.query<{ event: string; data: Record<string, unknown> }>({
      name: 'test_announced',
      text: 'with gone as (delete from holdfast.events returning *) select event, data from gone order by seq',
    });
    return rows.map(({ event, data }) => [event, { ...data, nextDelayMs: 'nextDelayMs' in data }]);
  }
});

it('holdfast.enqueue is there in a schema of another name', async () => {
  const other = await createEmptyDatabase();
  const settings = { connectionString: other.url, schema: 'Other_Jobs' };
  await migrate(settings);
  const rows = await other.database.query<{ id: string }>({
    name: 'test_other_schema',
    text: `select "Other_Jobs".enqueue('default', 'q', 'test.job', '{}', '{"unique": {"key": "a"}}') as id
      from generate_series(1, 2)`,
  });
  expect(rows[0]?.id).toBe(rows[1]?.id);
  await other.drop();
});

describe('a duration in SQL', () => {
  const inSql = async (value: unknown) => {
    const [row] = await race.database.query<{ ms: number | null }>(
      { name: 'test_duration', text: 'select holdfast.duration_ms($1::jsonb) as ms' },
      [JSON.stringify(value)],
    );
    return row?.ms ?? undefined;
  };

  it('is what it is elsewhere', async () => {
    const amount = fc
      .tuple(fc.nat(5_000), fc.option(fc.nat(999)))
      .map(([whole, part]) => (part === null ? String(whole) : `${String(whole)}.${String(part)}`));
    const short = fc
      .tuple(amount, fc.constantFrom('ms', 's', 'm', 'h', 'd'))
      .map((x) => x.join(''));
    const iso = fc.constantFrom(
      'PT5M',
      'P1DT2H',
      'P2W',
      'PT0.5S',
      'P',
      'PT',
      'P1Y',
      'PT1.5M',
      'p1d',
    );
    const other = fc.constantFrom('', '5', '5 m', '-5m', '1e3s', '5m ', '400000d', '.5s', '5M');
    await fc.assert(
      fc.asyncProperty(fc.oneof(short, iso, other), async (text) => {
        expect(await inSql(text)).toBe(parseDurationMs(text));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    [0, 0],
    [1.4, 1],
    [1.5, 2],
    [-1, undefined],
    [1e15, undefined],
    [true, undefined],
    [null, undefined],
    [{}, undefined],
  ])('may be a number of milliseconds: %j', async (value, ms) => {
    expect(await inSql(value)).toBe(ms);
  });
});
