import { commonFields } from '@holdfast/runtime/config-fields';
import { loadConfig } from '@holdfast/runtime/load-config';
import { z } from 'zod';
import type { ConnectionSettings } from '@holdfast/database';
import type { Environment } from '@holdfast/runtime';

const schema = z.object({
  DATABASE_URL: commonFields.DATABASE_URL,
  HOLDFAST_SCHEMA: commonFields.HOLDFAST_SCHEMA,
});

/**
 * Where the database is, for commands that work on it directly.
 *
 * @throws ConfigError that lists every problem
 */
export function readDatabaseConfig(env: Environment): ConnectionSettings {
  const values = loadConfig(schema, env);
  return {
    connectionString: values.DATABASE_URL,
    schema: values.HOLDFAST_SCHEMA,
    applicationName: 'holdfast cli',
  };
}
