import { listFires, openDatabase, pauseSchedule, readSchedule } from '@holdfast/database';
import { createTestDatabase, justPassed, makeSchedule, schedulePeriodMs } from '@holdfast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fireDueSchedules } from '../src/fire-schedules.ts';
import type { ScheduleKey } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});

afterAll(async () => {
  await test.drop();
});

beforeEach(async () => {
  await run('delete from holdfast.schedules');
  await run('delete from holdfast.jobs');
});

async function run<Row extends object>(text: string): Promise<readonly Row[]> {
  return test.database.query<Row>({ name: '', text });
}

async function jobsOf({ id }: ScheduleKey) {
  return run<{ readonly type: string; readonly status: string; readonly fire_at: Date }>(
    `select type, status, fire_at from holdfast.jobs where schedule_id = '${id}' order by fire_at`,
  );
}

async function firesOf(key: ScheduleKey) {
  return listFires(test.database, { ...key, before: undefined, limit: 200 });
}

describe('firing due schedules', () => {
  it('makes the job, the record and the next instant of a due schedule', async () => {
    const fireAt = justPassed();
    const key = await makeSchedule(test.database, { name: 'due', nextFireAt: fireAt });
    const report = await fireDueSchedules(test.database);
    expect(report.fired).toMatchObject([{ name: 'due', fireAt }]);
    expect(report.queueIds).toHaveLength(1);
    const [fire] = await firesOf(key);
    expect(fire).toMatchObject({ fireAt });
    expect(fire?.jobId).toBeDefined();
    expect(await jobsOf(key)).toEqual([{ type: 'report', status: 'queued', fire_at: fireAt }]);
    const schedule = await readSchedule(test.database, key);
    expect(schedule?.nextFireAt).toEqual(new Date(fireAt.getTime() + schedulePeriodMs));
  });

  it('gets along with one connection', async () => {
    const database = openDatabase({ connectionString: test.url, poolSize: 1 });
    const job = { type: 'report', queue: 'alone', payload: {} };
    await makeSchedule(test.database, { name: 'alone', job });
    const report = await fireDueSchedules(database).finally(() => database.close());
    expect(report.fired).toMatchObject([{ name: 'alone' }]);
  });

  it('leaves a schedule alone that is not due', async () => {
    const key = await makeSchedule(test.database, {
      name: 'later',
      nextFireAt: new Date(Date.now() + schedulePeriodMs),
    });
    expect(await fireDueSchedules(test.database)).toMatchObject({ fired: [], unfired: [] });
    expect(await firesOf(key)).toEqual([]);
  });

  it('records the instants of a paused schedule as skipped', async () => {
    const fireAt = justPassed();
    const key = await makeSchedule(test.database, { name: 'paused', nextFireAt: fireAt });
    await pauseSchedule(test.database, { ...key, by: 'me', reason: 'provider outage' });
    const { unfired } = await fireDueSchedules(test.database);
    expect(unfired).toMatchObject([{ name: 'paused', outcome: 'skipped_paused', count: 1 }]);
    expect(await jobsOf(key)).toEqual([]);
    expect((await firesOf(key)).map((fire) => fire.outcome)).toEqual(['skipped_paused']);
    expect((await readSchedule(test.database, key))?.nextFireAt).toEqual(
      new Date(fireAt.getTime() + schedulePeriodMs),
    );
  });

  it('records each instant of a week without a scheduler, and says so in one line', async () => {
    const key = await makeSchedule(test.database, {
      name: 'week',
      timing: { cron: '* * * * *', timezone: 'UTC' },
      nextFireAt: new Date(Math.floor(Date.now() / 60_000) * 60_000 - 7 * 86_400_000),
      catchUp: 'none',
    });
    const { unfired } = await fireDueSchedules(test.database);
    const count = unfired[0]?.count ?? 0;
    expect(unfired).toContainEqual(expect.objectContaining({ name: 'week', outcome: 'missed' }));
    expect(count).toBeGreaterThanOrEqual(7 * 1_440 - 1);
    expect((await firesOf(key)).length).toBe(200);
  });

  it('skips an instant while an earlier job is unfinished, and says so', async () => {
    const key = await makeSchedule(test.database, { name: 'slow' });
    await fireDueSchedules(test.database);
    await run(`update holdfast.schedules set next_fire_at = next_fire_at - interval '1 hour'`);
    await run('delete from holdfast.schedule_fires');
    await fireDueSchedules(test.database);
    expect((await firesOf(key)).map((fire) => fire.outcome)).toEqual(['skipped_overlap']);
    expect(await jobsOf(key)).toHaveLength(1);
  });

  it('does not skip when overlap is allowed', async () => {
    const key = await makeSchedule(test.database, {
      name: 'overlapping',
      overlap: 'allow',
      catchUp: 'all',
      catchUpWindowMs: 6 * schedulePeriodMs,
      nextFireAt: new Date(justPassed().getTime() - 5 * schedulePeriodMs),
    });
    await fireDueSchedules(test.database);
    expect(await jobsOf(key)).toHaveLength(6);
  });

  it('makes no second job for an instant that has been recorded, whatever the schedule says', async () => {
    const key = await makeSchedule(test.database, { name: 'again', overlap: 'allow' });
    await fireDueSchedules(test.database);
    // As after a restore of the schedule's row, or a clock that was set back.
    await run(`update holdfast.schedules set next_fire_at = next_fire_at - interval '1 hour'`);
    const report = await fireDueSchedules(test.database);
    expect(report.fired).toEqual([]);
    expect(await jobsOf(key)).toHaveLength(1);
  });

  it('keeps the record although the job is long gone', async () => {
    const key = await makeSchedule(test.database, { name: 'fleeting', overlap: 'allow' });
    await fireDueSchedules(test.database);
    await run('delete from holdfast.jobs');
    await run(`update holdfast.schedules set next_fire_at = next_fire_at - interval '1 hour'`);
    await fireDueSchedules(test.database);
    expect(await jobsOf(key)).toEqual([]);
    expect(await firesOf(key)).toHaveLength(1);
  });

  it('makes a job for each of two schedules with the same rule and queue', async () => {
    const keys = [
      await makeSchedule(test.database, { name: 'twin-1' }),
      await makeSchedule(test.database, { name: 'twin-2' }),
    ];
    await fireDueSchedules(test.database);
    for (const key of keys) expect(await jobsOf(key)).toHaveLength(1);
  });

  it('takes a schedule with a broken rule out of the line and fires the others', async () => {
    const timing = { cron: '* * * * *', timezone: 'UTC' };
    const broken = await makeSchedule(test.database, { name: 'broken', timing });
    await run(`update holdfast.schedules set timezone = 'Mars/Phobos' where id = '${broken.id}'`);
    const sound = await makeSchedule(test.database, { name: 'sound' });
    const report = await fireDueSchedules(test.database);
    expect(report.broken.map(({ schedule }) => schedule.name)).toEqual(['broken']);
    expect(await jobsOf(sound)).toHaveLength(1);
    expect((await readSchedule(test.database, broken))?.nextFireAt).toBeUndefined();
  });

  it('gives the job what the template says', async () => {
    await makeSchedule(test.database, {
      name: 'template',
      job: {
        ...{ type: 'invoice.send', queue: 'mail', payload: { to: ['a', 1, null] } },
        ...{ priority: 1, maxAttempts: 2, timeoutMs: 7_000, tags: ['t'], metadata: { by: 'me' } },
        retry: { mode: 'manual', backoff: { kind: 'fixed', delayMs: 1_000 } },
      },
    });
    await fireDueSchedules(test.database);
    const jobs = await run(
      `select j.type, q.name as queue, payload, priority, max_attempts, timeout_ms, tags, metadata, retry
       from holdfast.jobs as j join holdfast.queues as q on q.id = j.queue_id`,
    );
    expect(jobs).toEqual([
      {
        ...{ type: 'invoice.send', queue: 'mail', payload: { to: ['a', 1, null] } },
        ...{ priority: 1, max_attempts: 2, timeout_ms: 7_000, tags: ['t'], metadata: { by: 'me' } },
        retry: { mode: 'manual', backoff: { kind: 'fixed', delayMs: 1_000 } },
      },
    ]);
  });

  it('writes nothing when the transaction fails half way', async () => {
    const key = await makeSchedule(test.database, { name: 'half' });
    await run(`alter table holdfast.jobs add constraint no_reports check (type <> 'report')`);
    await expect(fireDueSchedules(test.database)).rejects.toThrow('no_reports');
    await run('alter table holdfast.jobs drop constraint no_reports');
    expect(await firesOf(key)).toEqual([]);
    await fireDueSchedules(test.database);
    expect(await jobsOf(key)).toHaveLength(1);
  });
});
