import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@holdfast/embedded-postgres';
import { adminUrl, publishAdminUrl, templateDatabase } from './config.ts';
import { makeTemplateDatabase } from './test-database.ts';

// A crash of the machine may lose this cluster, so nothing is gained by waiting for the disk.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

type Teardown = () => Promise<void>;

/**
 * Vitest's global setup: one throw-away server with a migrated template database. Several projects
 * of one run share it, and HOLDFAST_TEST_DATABASE_URL may name a server that runs already.
 */
export async function setup(): Promise<Teardown | undefined> {
  // Another project of this run was here first, and ends what it began.
  if (templateDatabase() !== undefined) return undefined;
  if (adminUrl() !== undefined) return makeTemplateDatabase();
  const stop = await startThrowAwayServer();
  try {
    await makeTemplateDatabase();
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function startThrowAwayServer(): Promise<Teardown> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  // The server's account must be able to enter when these tests are run by root.
  await chmod(folder, 0o755);
  const server = await startPostgres({ dataDir: join(folder, 'pg'), settings });
  publishAdminUrl(server.url);
  return async () => {
    await server.stop('immediate');
    await rm(folder, { recursive: true, force: true });
  };
}
