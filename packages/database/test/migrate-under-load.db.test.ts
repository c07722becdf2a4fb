import { applyMigrations, planMigrations } from '@holdfast/database';
import { createEmptyDatabase } from '@holdfast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openHandConnection,
  waitUntilBlocked,
  waitUntilSomeBlocked,
} from './support/hand-connection.ts';
import type { TestDatabase } from '@holdfast/testing';
import type { HandConnection } from './support/hand-connection.ts';

type Migration = Awaited<ReturnType<typeof planMigrations>>[number];

let test: TestDatabase;
let holder: HandConnection;
let reader: HandConnection;
let migration: Migration;

const settings = () => ({ connectionString: test.url });

beforeEach(async () => {
  test = await createEmptyDatabase();
  const list = await planMigrations(settings());
  const isEarlier = ({ version }: Migration) => version < 11;
  await applyMigrations(settings(), list.filter(isEarlier));
  [migration] = list.filter((each) => each.version === 11) as [Migration];
  holder = await openHandConnection(test.url);
  reader = await openHandConnection(test.url);
});
afterEach(async () => {
  await holder.close();
  await reader.close();
  await test.drop();
});

describe('versions of payloads come to a database', () => {
  it('while somebody reads jobs and history together', async () => {
    await holder.run('begin; select from holdfast.job_history');
    const applied = applyMigrations(settings(), [migration]);
    await waitUntilSomeBlocked(test.database);
    const read = reader.run('select from holdfast.all_jobs');
    await waitUntilBlocked(test.database, reader);
    await holder.run('commit');
    await expect(read).resolves.toBeUndefined();
    expect(await applied).toEqual([11]);
  });

  it('while somebody takes a job from the history and puts it back into the line', async () => {
    await holder.run('begin; delete from holdfast.job_history');
    const applied = applyMigrations(settings(), [migration]);
    await waitUntilSomeBlocked(test.database);
    // Each waits for the other now. The server ends one of them, mostly the migration, which then tries again.
    await holder.run('select from holdfast.jobs').catch(() => undefined);
    await holder.run('rollback');
    expect(await applied).toEqual([11]);
  });
});
