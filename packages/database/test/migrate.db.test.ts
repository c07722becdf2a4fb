import {
  claimJobs,
  enqueueJobs,
  ensurePartitions,
  findProject,
  finishJobs,
  latestSchemaVersion,
  listPartitions,
  migrate,
  openDatabase,
  planMigrations,
  readJob,
  readSchemaVersion,
  requireCurrentSchema,
  resolveQueues,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { createEmptyDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConnectionSettings } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let settings: ConnectionSettings;

beforeEach(async () => {
  test = await createEmptyDatabase();
  settings = { connectionString: test.url };
});
afterEach(async () => {
  await test.drop();
});

const everyVersion = Array.from({ length: latestSchemaVersion }, (_, index) => index + 1);

async function relationCount(): Promise<number> {
  const text = `select count(*)::integer as count from pg_class
    where relnamespace not in (
      select oid from pg_namespace where nspname like 'pg\\_%' or nspname = 'information_schema'
    )`;
  const [row] = await test.database.query<{ count: number }>({ name: 'test_relations', text });
  return row?.count ?? 0;
}

describe('migrating', () => {
  it('five at once on an empty database: one applies, all succeed', async () => {
    const reports = await Promise.all(Array.from({ length: 5 }, () => migrate(settings)));
    expect(reports.map(({ version }) => version)).toEqual(Array(5).fill(latestSchemaVersion));
    expect(reports.flatMap(({ applied }) => applied).sort((a, b) => a - b)).toEqual(everyVersion);
    await expect(requireCurrentSchema(settings)).resolves.toBeUndefined();
  });

  it('five at once where transactions are serializable by default', async () => {
    await test.database.execute(`do $$ begin
      execute format('alter database %I set default_transaction_isolation = serializable', current_database());
    end $$`);
    const reports = await Promise.all(Array.from({ length: 5 }, () => migrate(settings)));
    expect(reports.flatMap(({ applied }) => applied).sort((a, b) => a - b)).toEqual(everyVersion);
  });

  it('again applies nothing', async () => {
    expect((await migrate(settings)).applied).toEqual(everyVersion);
    const count = await relationCount();
    expect((await migrate(settings)).applied).toEqual([]);
    expect(await relationCount()).toBe(count);
  });

  it('warns when tables without a schema’s name would come to lie among ours, and only then', async () => {
    expect((await migrate(settings)).warnings).toEqual([]);
    const setSearchPath = (path: string) =>
      test.database.execute(`do $do$ begin
        execute format('alter database %I set search_path = ${path}', current_database());
      end $do$`);
    await setSearchPath('holdfast, public');
    const among = expect.stringContaining('into Holdfast\'s schema "holdfast"') as string;
    expect((await migrate(settings)).warnings).toEqual([among]);
    await setSearchPath('"$user", public');
    const schema = decodeURIComponent(new URL(test.url).username);
    const namesake = expect.stringContaining('has the name of the schema') as string;
    expect((await migrate({ ...settings, schema })).warnings).toEqual([namesake]);
  });

  it('a dry run gives the SQL and changes nothing', async () => {
    const before = await relationCount();
    const plan = await planMigrations(settings);
    expect(plan.map(({ version }) => version)).toEqual(everyVersion);
    expect(plan[0]?.sql).toContain('create table holdfast.jobs');
    expect(await relationCount()).toBe(before);
    expect(await readSchemaVersion(settings)).toBe(0);
    await migrate(settings);
    expect(await plannedVersions(settings)).toEqual([]);
  });

  it('refuses a schema of a newer build, in every way', async () => {
    await migrate(settings);
    await test.database.execute(
      `insert into holdfast.schema_migrations (version, name, checksum) values (999, 'later', 'x')`,
    );
    const refusal = { code: 'schema_too_new' };
    await expect(migrate(settings)).rejects.toMatchObject(refusal);
    await expect(planMigrations(settings)).rejects.toMatchObject(refusal);
    await expect(requireCurrentSchema(settings)).rejects.toMatchObject(refusal);
  });

  it('refuses a migration that was applied with other SQL', async () => {
    await migrate(settings);
    await test.database.execute(`update holdfast.schema_migrations set checksum = 'other'`);
    await expect(migrate(settings)).rejects.toMatchObject({ code: 'migration_changed' });
  });

  it('a process refuses to work on a schema that lacks migrations', async () => {
    await expect(requireCurrentSchema(settings)).rejects.toMatchObject({ code: 'schema_outdated' });
  });

  it('a failed migration leaves nothing behind, and the next try succeeds', async () => {
    // A table in the way, made by somebody else.
    await test.database.execute(
      'create schema holdfast; create table holdfast.idempotency_keys ()',
    );
    await expect(migrate(settings)).rejects.toMatchObject({ code: '42P07' });
    expect(await readSchemaVersion(settings)).toBe(0);
    await test.database.execute('drop table holdfast.idempotency_keys');
    expect((await migrate(settings)).applied).toEqual(everyVersion);
  });
});

describe('a schema of another name', () => {
  it.each(['acme_jobs', 'MixedCase', 'select'])(
    '%s serves a whole life of a job',
    async (schema) => {
      const named = { ...settings, schema };
      await migrate(named);
      expect(await plannedVersions(named)).toEqual([]);
      await expect(requireCurrentSchema(named)).resolves.toBeUndefined();
      const database = openDatabase(named);
      expect(await listPartitions(database, 'job_history')).toHaveLength(9);
      expect(await ensurePartitions(database)).toEqual([]);
      const job = await completeOne(database);
      expect(await readJob(database, job)).toMatchObject({
        status: 'completed',
        result: { ok: 1 },
      });
      await database.close();
    },
  );

  it.each(['a"b', 'a.b', 'a b', '', '1a', 'x'.repeat(64)])('%s is refused', async (schema) => {
    await expect(migrate({ ...settings, schema })).rejects.toThrow(/plain SQL identifier/);
  });
});

async function plannedVersions(named: ConnectionSettings): Promise<readonly number[]> {
  return (await planMigrations(named)).map(({ version }) => version);
}

async function completeOne(database: TestDatabase['database']) {
  const project = await findProject(database, 'default');
  if (project === undefined) throw new Error('There is no default project');
  const projectId = project.id;
  const [id, token] = [uuidV7(Date.now()), randomUUID()];
  const job = { id, queue: 'mail', type: 'test.job', payloadJson: '{}' };
  await enqueueJobs(database, { projectId, jobs: [job] });
  const queueId = (await resolveQueues(database, projectId, ['mail'])).get('mail')?.id ?? '';
  const lane = database.openLane('claims');
  const request = { projectId, workerId: randomUUID(), leaseToken: token, leaseMs: 60_000 };
  const [claimed] = await claimJobs(lane, {
    ...request,
    ...{ types: ['test.job'], limit: 1, suspectLimit: 0 },
    lanes: [{ queueId, priority: 5, afterSeq: '0' }],
  });
  await lane.close();
  expect(claimed?.id).toBe(id);
  const transition = 'complete_jobs';
  const decision = { transition, executionStatus: 'completed', resultJson: '{"ok":1}' } as const;
  const ended = { id, token, executionSeq: 1, startedAgoMs: 1, finishedAgoMs: 0, decision };
  await finishJobs(database, { projectId, transition, jobs: [ended] });
  return { projectId, id };
}
