import { createTestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenKeys, openStormPlace, runStorm } from './support/unique-storm.ts';
import type { UniqueSettings } from '@holdfast/domain';
import type { TestDatabase } from '@holdfast/testing';
import type { StormPlace } from './support/unique-storm.ts';

let test: TestDatabase;
let place: StormPlace;

beforeAll(async () => {
  test = await createTestDatabase();
  place = openStormPlace(test.url, 64);
});
afterAll(async () => {
  await place.close();
  await test.drop();
});

const modes: readonly Omit<UniqueSettings, 'key' | 'scope'>[] = [
  { onConflict: 'keep' },
  { onConflict: 'keep', until: 'ttl', ttlMs: 3_600_000 },
  { onConflict: 'replace' },
  { onConflict: 'debounce', waitMs: 1, maxWaitMs: 5 },
  { onConflict: 'queue_latest' },
  { onConflict: 'reject', until: 'start' },
];

describe('64 callers that ask for 100 keys, in every scope,', () => {
  it.each(modes)('never hold one twice at any snapshot: $onConflict $until', async (settings) => {
    await test.database.execute(
      'truncate holdfast.jobs, holdfast.job_history, holdfast.unique_locks, holdfast.job_executions, holdfast.job_dependencies, holdfast.job_endings',
    );
    const report = await runStorm({
      ...{ place, settings, callerCount: 64, callsPerCaller: 10, keyCount: 100 },
    });
    expect(report.errors).toEqual([]);
    expect(report.violations).toEqual([]);
    expect(report.snapshotCount).toBeGreaterThan(5);
    expect(report.ends['complete_jobs']).toBeGreaterThan(0);
    // A time that is not over holds the key whatever became of the job.
    const areFree = report.outcomesAfter.every(({ isNew }) => isNew);
    expect(areFree).toBe(settings.until !== 'ttl');
  });
});

it('the look on notices a key that is held twice', async () => {
  await test.database.execute('truncate holdfast.jobs');
  await test.database.execute(`
    insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status, seq, unique_lock)
    select id, gen_random_uuid(), 1, 'x', '{}', now(), now(), 'queued', n, '{"digest":"d","until":"done"}'
    from holdfast.projects, generate_series(1, 2) as n`);
  expect(await test.database.query(brokenKeys)).toHaveLength(1);
});
