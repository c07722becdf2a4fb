import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { Client } from 'pg';
import { inSchema, requireSchemaName } from './connection-settings.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { migrations } from './generated/migrations.ts';
import type { Migration } from './generated/migrations.ts';
import { openDatabase } from './database.ts';
import { ensurePartitions } from './partitions.ts';
import { searchPathWarning } from './search-path.ts';
import { readServer, requireSupportedServer } from './server.ts';
import { retryConflicts } from './transient-error.ts';
import { HoldfastError } from '@holdfast/domain';

/** The newest schema version that this build knows. */
export const latestSchemaVersion = migrations.length;

/** What {@link migrate} did. */
export interface MigrationReport {
  /** Versions that were applied now, in order. */
  readonly applied: readonly number[];
  readonly version: number;
  /** Sentences about what is not wrong, but likely to surprise. */
  readonly warnings: readonly string[];
}

const lockKey = 7_318_349_394_477_056n;
/** Held while a migration runs outside of a transaction. */
const loneLockKey = lockKey + 1n;
const loneLockPollMs = 100;

/**
 * Brings the schema up to date. Safe when many processes start at once: one migrates, the others wait for it and find
 * nothing to do. Each migration is one transaction with its own record, unless its file says otherwise.
 *
 * @throws HoldfastError `database_unsupported` below PostgreSQL 15, `schema_too_new` when the database was migrated by a newer build, `migration_changed` when an
 * applied migration differs from the one in this build.
 */
export async function migrate(settings: ConnectionSettings): Promise<MigrationReport> {
  const database = openDatabase({ ...settings, poolSize: 1 });
  try {
    requireSupportedServer(await readServer(database));
    const applied = await applyMigrations(settings, migrations);
    await ensurePartitions(database);
    const warning = await searchPathWarning(database);
    return {
      applied,
      version: latestSchemaVersion,
      warnings: warning === undefined ? [] : [warning],
    };
  } finally {
    await database.close();
  }
}

/** Applies those of the migrations that the database does not have yet; answers their versions. */
export async function applyMigrations(
  settings: ConnectionSettings,
  list: readonly Migration[],
): Promise<readonly number[]> {
  return withClient(settings, async (client) => {
    const done: number[] = [];
    await prepare(client, settings);
    for (const migration of list) {
      const apply = migration.transactional ? applyOnce : applyAlone;
      if (await apply(client, settings, migration)) done.push(migration.version);
    }
    return done;
  });
}

/** The SQL that {@link migrate} would run on this database, in order; changes nothing. */
export async function planMigrations(settings: ConnectionSettings): Promise<readonly Migration[]> {
  const version = await readSchemaVersion(settings);
  refuseNewer(version);
  return migrations
    .filter((migration) => migration.version > version)
    .map((migration) => ({ ...migration, sql: inSchema(migration.sql, schemaOf(settings)) }));
}

/** The version of the schema in the database; 0 when there is none. */
export async function readSchemaVersion(settings: ConnectionSettings): Promise<number> {
  return withClient(settings, async (client) => {
    const table = `"${schemaOf(settings)}".schema_migrations`;
    const found = await client.query<{ found: boolean }>(
      'select to_regclass($1) is not null as found',
      [table],
    );
    if (found.rows[0]?.found !== true) return 0;
    const result = await client.query<{ version: number }>(
      inSchema(
        'select coalesce(max(version), 0) as version from holdfast.schema_migrations',
        schemaOf(settings),
      ),
    );
    return result.rows[0]?.version ?? 0;
  });
}

/**
 * Refuses to work on a schema that is newer or older than this build.
 *
 * @param remedy what the reader of the error is told to do about an older one
 * @throws HoldfastError `schema_too_new` or `schema_outdated`.
 */
export async function requireCurrentSchema(
  settings: ConnectionSettings,
  remedy = 'run "holdfast migrate"',
): Promise<void> {
  const version = await readSchemaVersion(settings);
  refuseNewer(version);
  if (version === 0) {
    const message = `The database has no tables of Holdfast in the schema "${schemaOf(settings)}": ${remedy}`;
    throw new HoldfastError(message, { code: 'schema_outdated' });
  }
  if (version < latestSchemaVersion) {
    throw new HoldfastError(
      `The database schema is at version ${String(version)}, this build needs ${String(latestSchemaVersion)}: ${remedy}`,
      { code: 'schema_outdated' },
    );
  }
}

function refuseNewer(version: number): void {
  if (version <= latestSchemaVersion) return;
  throw new HoldfastError(
    `The database schema is at version ${String(version)}, newer than version ${String(latestSchemaVersion)} of this build: upgrade Holdfast`,
    { code: 'schema_too_new' },
  );
}

async function prepare(client: Client, settings: ConnectionSettings): Promise<void> {
  await inTransaction(client, async () => {
    await client.query('select pg_advisory_xact_lock($1)', [String(lockKey)]);
    await client.query(`create schema if not exists "${schemaOf(settings)}"`);
    await client.query(
      inSchema(
        `create table if not exists holdfast.schema_migrations (
          version integer primary key,
          name text not null,
          checksum text not null,
          applied_at timestamptz not null default clock_timestamp()
        )`,
        schemaOf(settings),
      ),
    );
    const newest = await client.query<{ version: number }>(
      inSchema(
        'select coalesce(max(version), 0) as version from holdfast.schema_migrations',
        schemaOf(settings),
      ),
    );
    refuseNewer(newest.rows[0]?.version ?? 0);
  });
}

/** Runs a migration again when whoever works meanwhile got in its way, such as with the same locks in another order. */
async function applyOnce(
  client: Client,
  settings: ConnectionSettings,
  migration: Migration,
): Promise<boolean> {
  return retryConflicts(() => tryOnce(client, settings, migration));
}

async function tryOnce(
  client: Client,
  settings: ConnectionSettings,
  migration: Migration,
): Promise<boolean> {
  return inTransaction(client, async () => {
    await client.query('select pg_advisory_xact_lock($1)', [String(lockKey)]);
    if (await isApplied(client, settings, migration)) return false;
    await client.query(inSchema(migration.sql, schemaOf(settings)));
    await recordApplied(client, settings, migration);
    return true;
  });
}

/**
 * Runs the single statement of a migration outside of a transaction, as CREATE INDEX CONCURRENTLY needs. A process that
 * dies in between leaves it unrecorded, so the statement must bear to be run again.
 */
async function applyAlone(
  client: Client,
  settings: ConnectionSettings,
  migration: Migration,
): Promise<boolean> {
  await lockAlone(client);
  try {
    if (await isApplied(client, settings, migration)) return false;
    await client.query(inSchema(migration.sql, schemaOf(settings)));
    await recordApplied(client, settings, migration);
    return true;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [String(loneLockKey)]);
  }
}

/** Asks again and again: a statement that waits for the lock would itself be waited for by a concurrent index build. */
async function lockAlone(client: Client): Promise<void> {
  for (;;) {
    const result = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_lock($1) as locked',
      [String(loneLockKey)],
    );
    if (result.rows[0]?.locked === true) return;
    await setTimeout(loneLockPollMs);
  }
}

async function recordApplied(
  client: Client,
  settings: ConnectionSettings,
  migration: Migration,
): Promise<void> {
  await client.query(
    inSchema(
      'insert into holdfast.schema_migrations (version, name, checksum) values ($1, $2, $3)',
      schemaOf(settings),
    ),
    [migration.version, migration.name, migration.checksum],
  );
}

async function isApplied(
  client: Client,
  settings: ConnectionSettings,
  migration: Migration,
): Promise<boolean> {
  const result = await client.query<{ checksum: string }>(
    inSchema(
      'select checksum from holdfast.schema_migrations where version = $1',
      schemaOf(settings),
    ),
    [migration.version],
  );
  const checksum = result.rows[0]?.checksum;
  if (checksum !== undefined && checksum !== migration.checksum) {
    throw new HoldfastError(
      `Migration ${String(migration.version)} (${migration.name}) was applied with other SQL than this build has`,
      { code: 'migration_changed' },
    );
  }
  return checksum !== undefined;
}

async function inTransaction<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  // A snapshot from before the wait for the lock would not show what the winner applied.
  await client.query('begin isolation level read committed');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function withClient<Result>(
  settings: ConnectionSettings,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: settings.connectionString,
    ...(settings.ssl === undefined ? {} : { ssl: settings.ssl }),
    application_name: 'holdfast migrate',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    // Also of a connection that the server would not let in, whose socket the driver leaves open.
    await client.end().catch(() => undefined);
  }
}

function schemaOf(settings: ConnectionSettings): string {
  return requireSchemaName(settings.schema ?? 'holdfast');
}
