import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openDatabase } from '@holdfast/database';
import { startPostgres } from '@holdfast/embedded-postgres';
import type { EmbeddedPostgres } from '@holdfast/embedded-postgres';
import type { TestDatabase } from '@holdfast/testing';

/** A durable server of one file's own, which may be crashed. */
export interface OwnServer {
  /** Makes a database with the whole schema; closing it leaves it on the server. */
  createDatabase(): Promise<TestDatabase>;
  /** As `pg_ctl restart -m immediate` does it. */
  crash(): Promise<void>;
  /** Crashes it and leaves it down until `comeBack`. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a server with the settings of production, which waits for the disk at every commit. */
export async function startOwnServer(): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-chaos-pg-'));
  // The server's account must be able to enter when these tests are run by root.
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'pg');
  let server: EmbeddedPostgres = await startPostgres({ dataDir });
  const { url, port } = server;
  return {
    createDatabase: () => createDatabase(url),
    crash: () => server.restartImmediate(),
    goDown: () => server.stop('immediate'),
    async comeBack() {
      server = await startPostgres({ dataDir, port });
    },
    async remove() {
      await server.stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `chaos_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase({ connectionString: serverUrl, poolSize: 1 });
  await admin.execute(`create database ${name}`).finally(() => admin.close());
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate({ connectionString: url.href });
  const database = openDatabase({ connectionString: url.href });
  return { url: url.href, database, drop: () => database.close() };
}
