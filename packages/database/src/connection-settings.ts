import type { ClientConfig } from 'pg';

/** How to reach the database. */
export interface ConnectionSettings {
  /** A PostgreSQL connection URI. */
  readonly connectionString: string;
  /** As the driver takes it; what the connection string says of TLS wins. */
  readonly ssl?: ClientConfig['ssl'] | undefined;
  /** The schema of Holdfast's tables; default `holdfast`. */
  readonly schema?: string | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string | undefined;
  /**
   * True behind a pooler in transaction mode: no prepared statements, no session settings, no notifications; polling
   * does all the work.
   */
  readonly pooled?: boolean | undefined;
  /** True in a process that is not ours: connections that do nothing do not keep it alive. */
  readonly letsProcessExit?: boolean | undefined;
}

/**
 * What every session sets, so that no transaction of ours is ever long. The statements are written for READ COMMITTED:
 * who waited for a row sees what became of it.
 */
const sessionSettings = {
  default_transaction_isolation: 'read committed',
  statement_timeout: '10000',
  lock_timeout: '2000',
  idle_in_transaction_session_timeout: '10000',
  timezone: 'UTC',
  jit: 'off',
} as const;

/**
 * What the engine's lanes set besides. Their statements want nothing but their indexes: a generic plan made while a
 * table was small must not scan it when it is large.
 */
const laneSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const;

/** The kind of session: `lane` for the engine's single statements; `claims` the same without waiting for the disk. */
export type SessionKind = 'general' | 'lane' | 'claims';

/** The driver's configuration for one session. */
export function clientConfig(settings: ConnectionSettings, kind: SessionKind): ClientConfig {
  const options: Record<string, string> = {
    ...sessionSettings,
    ...(kind === 'general' ? {} : laneSettings),
    // A lost claim is only a job back in the line, and its late finish is fenced.
    ...(kind === 'claims' ? { synchronous_commit: 'off' } : {}),
  };
  const text = Object.entries(options)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ');
  return {
    connectionString: settings.connectionString,
    ...(settings.ssl === undefined ? {} : { ssl: settings.ssl }),
    application_name: settings.applicationName ?? 'holdfast',
    connectionTimeoutMillis: 2_000,
    // Longer than the server's own limit: it only ends what a silent network would hold for a quarter of an hour.
    ...(kind === 'general' ? { query_timeout: 12_000 } : {}),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(settings.pooled === true ? {} : { options: text }),
  };
}

const schemaForm = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * The SQL files name the schema `holdfast`; this puts the configured one in its place.
 *
 * @throws Error for a name that is not a plain identifier of at most 63 characters.
 */
export function inSchema(sql: string, schema: string): string {
  const name = requireSchemaName(schema);
  return name === 'holdfast' ? sql : sql.replace(/\bholdfast\./g, `"${name}".`);
}

/**
 * Gives the name back when it can stand between double quotes as it is.
 *
 * @throws Error for a name that is not a plain identifier of at most 63 characters.
 */
export function requireSchemaName(schema: string): string {
  if (schemaForm.test(schema)) return schema;
  throw new Error(`The schema name "${schema}" is not a plain SQL identifier`);
}
