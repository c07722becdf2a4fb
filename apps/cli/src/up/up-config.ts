import { resolve } from 'node:path';
import { ConfigError } from '@holdfast/domain';
import { commonFields, durationField, integerField } from '@holdfast/runtime/config-fields';
import { loadConfig } from '@holdfast/runtime/load-config';
import { z } from 'zod';
import type { Environment } from '@holdfast/runtime';

/** The options of `holdfast up`, as typed. */
export interface UpFlags {
  readonly port?: string;
  readonly dataDir?: string;
  readonly workers?: string;
  readonly demo: boolean;
  readonly once?: boolean;
  readonly verbose?: boolean;
}

/** What `holdfast up` runs with. */
export interface UpConfig {
  /** Undefined for an embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  readonly schema: string;
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  readonly workerCount: number;
  readonly hasDemo: boolean;
  readonly isOnce: boolean;
  readonly isVerbose: boolean;
  /** Undefined for one that is made and kept in the data directory. */
  readonly adminPassword: string | undefined;
  readonly adminEmail: string;
  readonly hasSecret: boolean;
  /** The user's own handlers module instead of the demo's. */
  readonly handlers: string | undefined;
  /** How long the workers' running jobs may take to end. */
  readonly drainTimeoutMs: number;
  /** What child processes inherit. */
  readonly env: Environment;
}

const schema = z.object({
  DATABASE_URL: commonFields.DATABASE_URL.optional(),
  HOLDFAST_SCHEMA: commonFields.HOLDFAST_SCHEMA,
  PORT: integerField({ min: 0, max: 65_535 }).default(3_000),
  HOLDFAST_DATA_DIR: z.string().default('.holdfast'),
  HOLDFAST_WORKERS: integerField({ min: 0, max: 64 }).default(1),
  HOLDFAST_ADMIN_EMAIL: z.email('must be an e-mail address').default('admin@holdfast.local'),
  HOLDFAST_ADMIN_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  HOLDFAST_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  HOLDFAST_HANDLERS: z.string().optional(),
  HOLDFAST_DRAIN_TIMEOUT: durationField({ default: '25s' }),
});

/**
 * Puts flags over the environment and checks both.
 *
 * @throws ConfigError that lists every problem
 */
export function readUpConfig(flags: UpFlags, env: Environment): UpConfig {
  const values = loadConfig(schema, {
    ...env,
    ...(flags.port === undefined ? {} : { PORT: flags.port }),
    ...(flags.dataDir === undefined ? {} : { HOLDFAST_DATA_DIR: flags.dataDir }),
    ...(flags.workers === undefined ? {} : { HOLDFAST_WORKERS: flags.workers }),
  });
  if (flags.once === true && !flags.demo) {
    throw new ConfigError('--once checks the example jobs, so it cannot go with --no-demo');
  }
  if (flags.once === true && values.HOLDFAST_WORKERS === 0) {
    throw new ConfigError('--once needs at least one worker');
  }
  return {
    databaseUrl: values.DATABASE_URL,
    schema: values.HOLDFAST_SCHEMA,
    port: values.PORT,
    dataDir: resolve(values.HOLDFAST_DATA_DIR),
    workerCount: values.HOLDFAST_WORKERS,
    hasDemo: flags.demo,
    isOnce: flags.once === true,
    isVerbose: flags.verbose === true,
    adminEmail: values.HOLDFAST_ADMIN_EMAIL,
    adminPassword: values.HOLDFAST_ADMIN_PASSWORD,
    hasSecret: values.HOLDFAST_SECRET !== undefined,
    handlers: values.HOLDFAST_HANDLERS,
    drainTimeoutMs: values.HOLDFAST_DRAIN_TIMEOUT,
    env,
  };
}
