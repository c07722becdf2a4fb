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
 * @throws ConfigError when neither is given, or the pool's password is a function
 */
export function connectionOf(
  options: ConnectionOptions,
): Pick<ConnectionSettings, 'connectionString' | 'ssl'> {
  if (options.connectionString !== undefined && options.connectionString !== '') {
    return { connectionString: options.connectionString };
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

/** Every part as a parameter, since a host may be a folder of sockets. */
function uriOf({ host, port, user, password, database }: PoolLike['options']): string {
  const parts = Object.entries({ host, port, user, password }).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number'
      ? [`${name}=${encodeURIComponent(value)}`]
      : [],
  );
  return `postgresql:///${encodeURIComponent(database ?? '')}?${parts.join('&')}`;
}
