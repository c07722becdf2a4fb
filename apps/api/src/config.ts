import { commonFields, integerField, switchField } from '@holdfast/runtime/config-fields';
import { loadConfig } from '@holdfast/runtime/load-config';
import type { Environment, LogFormat, LogLevel } from '@holdfast/runtime';
import { z } from 'zod';

const leastSecretLength = 32;

const secretList = z
  .string()
  .transform((text) => text.split(',').map((secret) => secret.trim()))
  .refine((secrets) => secrets.every((secret) => secret.length >= leastSecretLength), {
    error: `must have at least ${String(leastSecretLength)} characters (each, when several are given with commas)`,
  });

const fields = z.object({
  ...commonFields,
  PORT: integerField({ min: 0, max: 65_535 }).default(3000),
  HOST: z.string().default('127.0.0.1'),
  HOLDFAST_SECRET: secretList,
  HOLDFAST_ADMIN_EMAIL: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')
    .max(254)
    .optional(),
  HOLDFAST_ADMIN_PASSWORD: z
    .string()
    .min(12, 'must have at least 12 characters')
    .max(256)
    .optional(),
  HOLDFAST_WEB_ROOT: z.string().optional(),
  HOLDFAST_TRUST_PROXY: integerField({ min: 0, max: 10 }).default(0),
  HOLDFAST_RATE_LIMIT: integerField({ min: 0, max: 10_000_000 }).default(30_000),
  HOLDFAST_METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  HOLDFAST_POOLED: switchField().default(false),
  HOLDFAST_DATABASE_POOL: integerField({ min: 1, max: 200 }).default(10),
});

/** The settings of an API process. */
export interface ApiConfig {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly poolSize: number;
  /** True behind a pooler in transaction mode. */
  readonly isPooled: boolean;
  readonly port: number;
  readonly host: string;
  /** The first signs, the others are still accepted. */
  readonly secrets: readonly string[];
  readonly owner: { readonly email: string | undefined; readonly password: string | undefined };
  /** The folder of the built dashboard; without it only the API is served. */
  readonly webRoot: string | undefined;
  /** How many proxies stand in front, whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: number;
  /** Requests a minute from one caller; 0 for no limit. */
  readonly requestsPerMinute: number;
  /** Needed to read `/metrics`, when set. */
  readonly metricsToken: string | undefined;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/**
 * Reads the settings from environment variables.
 *
 * @throws ConfigError that lists every problem
 */
export function loadApiConfig(env: Environment): ApiConfig {
  const read = loadConfig(fields, env);
  return {
    databaseUrl: read.DATABASE_URL,
    schema: read.HOLDFAST_SCHEMA,
    poolSize: read.HOLDFAST_DATABASE_POOL,
    isPooled: read.HOLDFAST_POOLED,
    port: read.PORT,
    host: read.HOST,
    secrets: read.HOLDFAST_SECRET,
    owner: { email: read.HOLDFAST_ADMIN_EMAIL, password: read.HOLDFAST_ADMIN_PASSWORD },
    webRoot: read.HOLDFAST_WEB_ROOT,
    trustedProxies: read.HOLDFAST_TRUST_PROXY,
    requestsPerMinute: read.HOLDFAST_RATE_LIMIT,
    metricsToken: read.HOLDFAST_METRICS_TOKEN,
    logLevel: read.LOG_LEVEL,
    logFormat: read.LOG_FORMAT,
  };
}
