import { HoldfastError } from '@holdfast/domain';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** What the server is, and what its acknowledgements survive. */
export interface ServerInfo {
  readonly version: string;
  /** As PostgreSQL counts: 170010 is 17.10. */
  readonly versionNumber: number;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  readonly dataChecksums: boolean;
  readonly inRecovery: boolean;
  readonly startedAt: Date;
  /** The server's clock, Unix milliseconds. */
  readonly nowMs: number;
}

interface Row {
  readonly version: string;
  readonly version_number: number;
  readonly fsync: boolean;
  readonly full_page_writes: boolean;
  readonly synchronous_commit: string;
  readonly synchronous_standby_names: string;
  readonly data_checksums: boolean;
  readonly in_recovery: boolean;
  readonly started_at: Date;
  readonly now_ms: number;
}

/** Reads the server's version and durability settings. */
export async function readServer(db: Queryable): Promise<ServerInfo> {
  const [row] = await db.query<Row>(statements.readServer);
  if (row === undefined) throw new Error('The server answered nothing about itself');
  return {
    version: row.version,
    versionNumber: row.version_number,
    fsync: row.fsync,
    fullPageWrites: row.full_page_writes,
    synchronousCommit: row.synchronous_commit,
    synchronousStandbyNames: row.synchronous_standby_names,
    dataChecksums: row.data_checksums,
    inRecovery: row.in_recovery,
    startedAt: row.started_at,
    nowMs: row.now_ms,
  };
}

/**
 * Refuses servers that Holdfast cannot work on.
 *
 * @throws HoldfastError `database_unsupported` below PostgreSQL 15.
 */
export function requireSupportedServer(server: ServerInfo): void {
  if (server.versionNumber >= 150_000) return;
  throw new HoldfastError(
    `PostgreSQL ${server.version} is too old: Holdfast needs version 15 or newer, and is tested on 17`,
    { code: 'database_unsupported' },
  );
}

/** Sentences about settings that let an acknowledged job be lost in a crash; none when all is well. */
export function durabilityWarnings(server: ServerInfo): readonly string[] {
  const warnings: string[] = [];
  if (!server.fsync)
    warnings.push('fsync is off: a crash of the host can lose or corrupt everything');
  if (!server.fullPageWrites) {
    warnings.push('full_page_writes is off: a crash of the host can corrupt tables');
  }
  if (server.synchronousCommit === 'off') {
    warnings.push(
      'synchronous_commit is off: a crash can lose jobs that were already acknowledged',
    );
  }
  return warnings;
}

/** The time of the database's clock. */
export async function readClock(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(statements.readClock);
  if (row === undefined) throw new Error('The database did not answer its time');
  return row.now;
}

/** The version of the schema as applied; 0 when there is none. */
export async function readAppliedVersion(db: Queryable): Promise<number> {
  const [row] = await db.query<{ version: number }>(statements.readSchemaVersion);
  return row?.version ?? 0;
}
