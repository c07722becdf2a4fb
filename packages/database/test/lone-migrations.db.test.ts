import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { applyMigrations } from '@holdfast/database';
import { afterAll, beforeAll, expect, it } from 'vitest';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await test.drop();
});

const indexBuild = {
  // Below every real one, so that the schema does not look newer than this build.
  version: 0,
  name: 'index_tags',
  sql: 'create index concurrently if not exists jobs_tags on holdfast.jobs using gin (tags)',
  transactional: false,
  checksum: 'a'.repeat(64),
};

it('builds an index concurrently once, whoever else migrates at the same time', async () => {
  const settings = { connectionString: test.url };
  const applied = await Promise.all(
    Array.from({ length: 4 }, () => applyMigrations(settings, [indexBuild])),
  );
  expect(applied.flat()).toEqual([indexBuild.version]);
  const rows = await test.database.query<{ valid: boolean }>({
    name: 'read_index',
    text: `select indisvalid as valid from pg_index where indexrelid = 'holdfast.jobs_tags'::regclass`,
  });
  expect(rows).toEqual([{ valid: true }]);
});
