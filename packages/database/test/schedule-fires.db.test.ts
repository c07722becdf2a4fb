import {
  advanceSchedule,
  enqueueJobs,
  hasUnfinishedJob,
  insertSchedule,
  listFires,
  lockDueSchedules,
  nextFireInMs,
  pauseSchedule,
  readSchedule,
  recordFire,
  resumeSchedule,
  updateSchedule,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { waitUntilSomeBlocked } from './support/hand-connection.ts';
import { createRace } from './support/race.ts';
import { statusOf } from './support/job-snapshot.ts';
import type { Queryable, ScheduleKey, ScheduleSettings } from '@holdfast/database';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterEach(async () => {
  await race.first.run('rollback');
  await race.database.execute('delete from holdfast.schedules');
});
afterAll(async () => {
  await race.close();
});

const minuteMs = 60_000;

function settings(nextFireAt: Date | undefined): ScheduleSettings {
  return {
    timing: { cron: '* * * * *', timezone: 'Europe/Berlin' },
    job: { type: 'test.job', queue: 'cron', payload: { it: "'s" } },
    catchUp: 'latest',
    catchUpWindowMs: 3_600_000,
    overlap: 'skip',
    nextFireAt,
  };
}

async function makeSchedule(nextFireAt: Date | undefined, name = 'report'): Promise<ScheduleKey> {
  const key = { projectId: race.factory.projectId, id: uuidV7(Date.now()) };
  const request = { ...key, name, settings: settings(nextFireAt) };
  expect(await insertSchedule(race.database, request)).toBe(true);
  return key;
}

const overdue = (): Date => new Date(Date.now() - minuteMs);
const due = new Date('2026-03-29T01:00:00Z');

/** Records the instant and makes its job, as a scheduler does: both or neither. */
async function fire(tx: Queryable, key: ScheduleKey): Promise<string | undefined> {
  const jobId = uuidV7(Date.now());
  const isFirst = await recordFire(tx, { ...key, fireAt: due, outcome: 'enqueued', jobId });
  if (!isFirst) return undefined;
  const job = { id: jobId, queue: 'cron', type: 'test.job', payloadJson: '{}' };
  const { projectId, id } = key;
  const jobs = [{ ...job, scheduleId: id, fireAt: due }];
  await enqueueJobs(race.database, { projectId, jobs, tx });
  return jobId;
}

describe('an instant of a schedule', () => {
  it('that two schedulers handle at once fires once', async () => {
    const key = await makeSchedule(overdue());
    const mine = await race.hold((first) => fire(first, key));
    const { result } = await race.startBlocked((second) => fire(second, key));
    await race.commit();
    expect(await result).toBeUndefined();
    const fires = await listFires(race.database, { ...key, before: undefined, limit: 10 });
    expect(fires).toMatchObject([{ fireAt: due, outcome: 'enqueued', jobId: mine }]);
  });

  it('fires on the other scheduler when the first one dies before its commit', async () => {
    const key = await makeSchedule(overdue());
    const lost = await race.hold((first) => fire(first, key));
    const { result } = await race.startBlocked((second) => fire(second, key));
    await race.first.run('rollback');
    const jobId = await result;
    const { projectId } = key;
    expect(await statusOf(race.database, { projectId, id: jobId ?? '' })).toBe('queued');
    expect(await statusOf(race.database, { projectId, id: lost ?? '' })).toBe('absent');
  });

  it('does not fire again when its job is gone or the schedule was made anew', async () => {
    const key = await makeSchedule(overdue());
    await fire(race.database, key);
    await race.database.execute('delete from holdfast.jobs; delete from holdfast.schedules');
    expect(await fire(race.database, key)).toBeUndefined();
  });

  it('of another schedule or of another time fires on its own', async () => {
    const keys = [await makeSchedule(overdue(), 'a'), await makeSchedule(overdue(), 'b')];
    for (const key of keys) expect(await fire(race.database, key)).toBeDefined();
    const [key] = keys;
    if (key === undefined) throw new Error('No schedule was made');
    const later = new Date(due.getTime() + 1);
    const skipped = { ...key, fireAt: later, outcome: 'missed', jobId: undefined } as const;
    expect(await recordFire(race.database, skipped)).toBe(true);
  });

  it('has a job exactly when its outcome says so', async () => {
    const key = await makeSchedule(overdue());
    const wrong = { ...key, fireAt: due, outcome: 'missed', jobId: uuidV7(Date.now()) } as const;
    await expect(recordFire(race.database, wrong)).rejects.toMatchObject({ code: '23514' });
  });
});

describe('due schedules', () => {
  it('that one scheduler handles are skipped by the others', async () => {
    const mine = await makeSchedule(overdue(), 'a');
    const locked = await race.hold((first) => lockDueSchedules(first, 10));
    expect(locked.map(({ id }) => id)).toEqual([mine.id]);
    const other = await makeSchedule(overdue(), 'b');
    const theirs = await lockDueSchedules(race.second, 10);
    expect(theirs.map(({ id }) => id)).toEqual([other.id]);
    await race.commit();
  });

  it('that were advanced meanwhile are not due any more', async () => {
    const key = await makeSchedule(overdue());
    const nextFireAt = new Date(Date.now() + minuteMs);
    await race.hold((first) => advanceSchedule(first, { ...key, nextFireAt }));
    expect(await lockDueSchedules(race.second, 10)).toEqual([]);
    await race.commit();
    expect(await lockDueSchedules(race.second, 10)).toEqual([]);
  });

  it('come longest overdue first, with everything a scheduler needs', async () => {
    const late = await makeSchedule(overdue(), 'late');
    const later = await makeSchedule(new Date(Date.now() - 2 * minuteMs), 'later');
    await makeSchedule(new Date(Date.now() + minuteMs), 'not-yet');
    await makeSchedule(undefined, 'never');
    const found = await lockDueSchedules(race.database, 10);
    expect(found.map(({ id }) => id)).toEqual([later.id, late.id]);
    const { timing, job, overlap } = settings(undefined);
    expect(found[0]).toMatchObject({ timing, job, overlap, catchUp: 'latest' });
    expect(found[0]?.now.getTime()).toBeGreaterThan(found[0]?.nextFireAt.getTime() ?? Infinity);
    expect(await lockDueSchedules(race.database, 1)).toHaveLength(1);
  });

  it('say that they are paused, so that the instant is recorded as skipped', async () => {
    const key = await makeSchedule(overdue());
    await pauseSchedule(race.database, { ...key, by: 'ann', reason: 'holiday' });
    expect(await lockDueSchedules(race.database, 10)).toMatchObject([{ isPaused: true }]);
    expect((await readSchedule(race.database, key))?.paused).toMatchObject({ by: 'ann' });
    await resumeSchedule(race.database, { ...key, nextFireAt: overdue() });
    expect(await lockDueSchedules(race.database, 10)).toMatchObject([{ isPaused: false }]);
    expect(await nextFireInMs(race.database)).toBeLessThan(0);
  });

  it('are none when no schedule fires again', async () => {
    await makeSchedule(undefined);
    expect(await lockDueSchedules(race.database, 10)).toEqual([]);
    expect(await nextFireInMs(race.database)).toBeUndefined();
  });
});

describe('the unfinished job of a schedule', () => {
  it.each([
    ['queued', true],
    ['scheduled', true],
    ['claimed', true],
    ['running', true],
    ['completed', false],
    ['failed', false],
    ['dead_letter', false],
    ['cancelled', false],
  ] as const)('%s: %s', async (status, unfinished) => {
    const key = await makeSchedule(undefined);
    await race.factory.make(status, { scheduleId: key.id, fireAt: due });
    expect(await hasUnfinishedJob(race.database, key)).toBe(unfinished);
  });
});

describe('two people who edit one schedule', () => {
  it('do not overwrite each other unseen', async () => {
    const key = await makeSchedule(undefined);
    const { revision } = (await readSchedule(race.database, key)) ?? { revision: '' };
    const edit = { ...key, settings: settings(undefined), expectedRevision: revision };
    await race.hold((first) => updateSchedule(first, edit));
    const second = updateSchedule(race.database, edit);
    await waitUntilSomeBlocked(race.database);
    await race.commit();
    expect(await second).toBeUndefined();
    expect((await readSchedule(race.database, key))?.revision).toBe(String(Number(revision) + 1));
  });
});
