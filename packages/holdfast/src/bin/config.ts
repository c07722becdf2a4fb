import { ConfigError } from '@holdfast/domain';
import type { ConnectionSettings } from '@holdfast/database';
import type { Environment } from '@holdfast/runtime';

/** The project that a command is about, from `HOLDFAST_PROJECT`. */
export function readProject(env: Environment = process.env): string {
  const { HOLDFAST_PROJECT: project = '' } = env;
  return project === '' ? 'default' : project;
}

/**
 * Where the database is, from `DATABASE_URL` and `HOLDFAST_SCHEMA`.
 *
 * @throws ConfigError that lists every problem, without the values
 */
export function readConnectionSettings(
  command: string,
  env: Environment = process.env,
): ConnectionSettings {
  const { DATABASE_URL: connectionString = '', HOLDFAST_SCHEMA: schema = '' } = env;
  const problems: string[] = [];
  if (connectionString === '') {
    problems.push('DATABASE_URL: is required');
  } else if (!/^postgres(ql)?:\/\//.test(connectionString) || !URL.canParse(connectionString)) {
    problems.push('DATABASE_URL: must be a URL such as postgres://user:password@host:5432/name');
  }
  if (schema !== '' && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    problems.push('HOLDFAST_SCHEMA: must be a plain lower-case SQL name');
  }
  if (problems.length > 0) {
    throw new ConfigError(
      `The configuration is invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
  }
  return {
    connectionString,
    ...(schema === '' ? {} : { schema }),
    applicationName: `holdfast ${command}`,
  };
}
