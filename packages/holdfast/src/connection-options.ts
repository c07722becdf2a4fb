import { ConfigError } from '@holdfast/domain';
import type { ConnectionSettings } from '@holdfast/database';

/** A pool of `pg`, of which only the settings are used. */
export interface PoolLike {
  readonly options: {
    readonly connectionString?: string | undefined;
    readonly host?: string | undefined;
    readonly port?: number | undefined;
    readonly user?: string | undefined;
    readonly password?: unknown;
    readonly database?: string | undefined;
    readonly ssl?: ConnectionSettings['ssl'];
  };
}

/** Where the database is: one of the two. */
export interface ConnectionOptions {
  /** A PostgreSQL connection URI. */
  readonly connectionString?: string | undefined;
  /** A pool of `pg` that connects to the database. Holdfast opens connections of its own with the same settings. */
  readonly pool?: PoolLike | undefined;
}

/**
 * How to connect.
 *
 * @throws ConfigError when neither is given, the connection string is none, or the pool's password is a function
 */
export function connectionOf(
  options: ConnectionOptions,
): Pick<ConnectionSettings, 'connectionString' | 'ssl'> {
  const { connectionString: uri } = options;
  if (uri !== undefined && uri !== '') {
    if (isConnectionUri(uri)) return { connectionString: uri };
    // Without the value, which may hold a password.
    throw new ConfigError(
      'new Holdfast: connectionString must be a PostgreSQL connection URI such as ' +
        'postgres://user:password@host:5432/name; special characters in the password are percent-encoded',
    );
  }
  if (options.pool === undefined) {
    throw new ConfigError(
      'new Holdfast: connectionString must be a PostgreSQL connection URI; is the environment variable set?',
    );
  }
  const { connectionString, password, ssl } = options.pool.options;
  if (typeof password === 'function') {
    throw new ConfigError(
      'new Holdfast: the password of the pool is a function; give a connectionString',
    );
  }
  return { connectionString: connectionString ?? uriOf(options.pool.options), ssl };
}

/** Callers in plain JavaScript hand in what they have. The host may be left out, and be a parameter. */
function isConnectionUri(uri: unknown): boolean {
  if (typeof uri !== 'string' || !/^postgres(ql)?:\/\//.test(uri)) return false;
  return URL.canParse(uri.replace('@/', '@host/'));
}

/** Every part as a parameter, since a host may be a folder of sockets. */
function uriOf({ host, port, user, password, database }: PoolLike['options']): string {
  const parts = Object.entries({ host, port, user, password }).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number'
      ? [`${name}=${encodeURIComponent(value)}`]
      : [],
  );
  return `postgresql:///${encodeURIComponent(database ?? '')}?${parts.join('&')}`;
}
