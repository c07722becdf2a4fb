import { fileURLToPath } from 'node:url';
import { createTestDatabase, makeSchedule, spawnProcess, waitFor } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';

const scheduleCount = 200;
const script = fileURLToPath(new URL('../dist/main.js', import.meta.url));

let test: TestDatabase;
let schedulers: SpawnedProcess[] = [];

beforeEach(async () => {
  test = await createTestDatabase();
});

afterEach(async () => {
  await Promise.all(schedulers.map((scheduler) => scheduler.destroy()));
  schedulers = [];
  await test.drop();
});

function startScheduler(): SpawnedProcess {
  const scheduler = spawnProcess({ script, env: { DATABASE_URL: test.url, HOLDFAST_TICK: '1s' } });
  schedulers.push(scheduler);
  return scheduler;
}

/** Schedules that fire every second, as from the next full second. */
async function makeSchedules(): Promise<void> {
  const anchorAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000);
  for (let index = 0; index < scheduleCount; index += 1) {
    await makeSchedule(test.database, {
      name: `every-second-${String(index)}`,
      timing: { everyMs: 1_000, anchorAt, timezone: 'UTC' },
      nextFireAt: anchorAt,
      overlap: 'allow',
      catchUp: 'all',
    });
  }
}

interface Tally {
  readonly schedules: number;
  readonly fires: number;
  readonly jobs: number;
  readonly jobs_per_instant: number;
  readonly expected: number;
  readonly fewest: number;
}

/** Counts fires and jobs, and how many instants lie between each schedule's first and last fire. */
async function tally(): Promise<Tally> {
  const [row] = await test.database.query<Tally>({
    name: 'tally',
    text: `
      with per_schedule as (
        select schedule_id, count(*) as fires,
          extract(epoch from max(fire_at) - min(fire_at)) + 1 as expected
        from holdfast.schedule_fires where outcome in ('enqueued', 'caught_up') group by schedule_id
      ),
      per_instant as (
        select count(*) as jobs from holdfast.jobs group by schedule_id, fire_at
      )
      select count(*)::integer as schedules, sum(fires)::integer as fires,
        sum(expected)::integer as expected, min(fires)::integer as fewest,
        (select sum(jobs) from per_instant)::integer as jobs,
        (select max(jobs) from per_instant)::integer as jobs_per_instant
      from per_schedule`,
  });
  if (row === undefined) throw new Error('No tally');
  return row;
}

async function untilEachFired(count: number): Promise<void> {
  await waitFor(
    `each schedule has fired ${String(count)} times`,
    async () => {
      const { schedules, fewest } = await tally();
      return schedules === scheduleCount && fewest >= count;
    },
    { timeoutMs: 60_000 },
  );
}

async function stopAll(): Promise<void> {
  // Node listens for signals only a while after it has been started.
  for (const scheduler of schedulers) await scheduler.waitForOutput(/"msg":"started"/);
  for (const scheduler of schedulers) scheduler.kill('SIGTERM');
  for (const scheduler of schedulers) expect((await scheduler.exited).code).toBe(0);
}

async function expectEachInstantOnce(): Promise<void> {
  const { fires, expected, jobs, jobs_per_instant: perInstant } = await tally();
  expect(fires).toBe(expected);
  expect(jobs).toBe(fires);
  expect(perInstant).toBe(1);
}

describe('200 schedules that fire every second', () => {
  it.each([2, 5])('fire each instant once with %i schedulers', async (count) => {
    await makeSchedules();
    for (let index = 0; index < count; index += 1) startScheduler();
    await untilEachFired(5);
    await stopAll();
    await expectEachInstantOnce();
  });

  it('fire each instant once through schedulers that are killed', async () => {
    await makeSchedules();
    for (let index = 0; index < 3; index += 1) startScheduler();
    for (let round = 1; round <= 3; round += 1) {
      await untilEachFired(2 * round);
      await schedulers.shift()?.destroy();
      startScheduler();
    }
    await untilEachFired(8);
    await stopAll();
    await expectEachInstantOnce();
  });

  it('fire each instant once after a time in which no scheduler ran', async () => {
    await makeSchedules();
    startScheduler();
    await untilEachFired(2);
    await stopAll();
    schedulers = [];
    const { fewest } = await tally();
    startScheduler();
    await untilEachFired(fewest + 3);
    await stopAll();
    await expectEachInstantOnce();
  });
});
