import { ConfigError } from '@holdfast/domain';
import {
  commonFields,
  durationField,
  integerField,
  listField,
  switchField,
} from '@holdfast/runtime/config-fields';
import { loadConfig } from '@holdfast/runtime/load-config';
import { z } from 'zod';
import type { Environment, LogFormat, LogLevel } from '@holdfast/runtime';

/** What a worker process runs with. */
export interface WorkerConfig {
  readonly databaseUrl: string;
  readonly schema: string;
  /** Slug of the project whose jobs it runs. */
  readonly project: string;
  /** Names of queues, or `undefined` for all of them, also those made later. */
  readonly queues: readonly string[] | undefined;
  /** How many jobs run at once. */
  readonly concurrency: number;
  /** Path of the handlers module; undefined for HTTP jobs alone. */
  readonly handlersPath: string | undefined;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly pollIntervalMs: number;
  /** How long running jobs may take to end after the signal to stop. */
  readonly drainTimeoutMs: number;
  /** Comma separated host rules and CIDR ranges, read by the egress policy. */
  readonly egress: {
    readonly allowHosts: string | undefined;
    readonly allowCidrs: string | undefined;
  };
  readonly labels: Readonly<Record<string, string>>;
  /** False to live from polling alone. */
  readonly hasNotifications: boolean;
  /** True behind a pooler in transaction mode. */
  readonly isPooled: boolean;
  readonly probePort: number | undefined;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const schema = z.object({
  ...commonFields,
  HOLDFAST_PROJECT: z.string().default('default'),
  HOLDFAST_QUEUES: listField().default(['*']),
  HOLDFAST_CONCURRENCY: integerField({ min: 1, max: 1_000 }).default(20),
  HOLDFAST_HANDLERS: z.string().optional(),
  HOLDFAST_LEASE: durationField({ default: '30s', min: '500ms', max: '1h' }),
  HOLDFAST_HEARTBEAT: durationField({ default: '5s', min: '50ms', max: '10m' }),
  HOLDFAST_POLL_INTERVAL: durationField({ default: '500ms', min: '10ms', max: '1m' }),
  HOLDFAST_DRAIN_TIMEOUT: durationField({ default: '25s', min: '0s', max: '1h' }),
  HOLDFAST_EGRESS_ALLOW_HOSTS: z.string().optional(),
  HOLDFAST_EGRESS_ALLOW_CIDRS: z.string().optional(),
  HOLDFAST_LABELS: labelsField().default({}),
  HOLDFAST_NOTIFY: switchField().default(true),
  HOLDFAST_POOLED: switchField().default(false),
});

/**
 * Reads the worker's configuration from environment variables.
 *
 * @throws ConfigError that lists every problem
 */
export function readConfig(env: Environment): WorkerConfig {
  const values = loadConfig(schema, env);
  if (values.HOLDFAST_HEARTBEAT >= values.HOLDFAST_LEASE / 2) {
    // One lost heartbeat must not lose the job.
    throw new ConfigError(
      'The configuration is invalid:\n  HOLDFAST_HEARTBEAT: must be less than half of HOLDFAST_LEASE',
    );
  }
  const queues = values.HOLDFAST_QUEUES;
  return {
    databaseUrl: values.DATABASE_URL,
    schema: values.HOLDFAST_SCHEMA,
    project: values.HOLDFAST_PROJECT,
    queues: queues.includes('*') ? undefined : queues,
    concurrency: values.HOLDFAST_CONCURRENCY,
    handlersPath: values.HOLDFAST_HANDLERS,
    leaseMs: values.HOLDFAST_LEASE,
    heartbeatMs: values.HOLDFAST_HEARTBEAT,
    pollIntervalMs: values.HOLDFAST_POLL_INTERVAL,
    drainTimeoutMs: values.HOLDFAST_DRAIN_TIMEOUT,
    egress: {
      allowHosts: values.HOLDFAST_EGRESS_ALLOW_HOSTS,
      allowCidrs: values.HOLDFAST_EGRESS_ALLOW_CIDRS,
    },
    labels: values.HOLDFAST_LABELS,
    hasNotifications: values.HOLDFAST_NOTIFY,
    isPooled: values.HOLDFAST_POOLED,
    probePort: values.HOLDFAST_PROBE_PORT,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
  };
}

/** `zone=eu-1,disk=fast` */
function labelsField() {
  return z.string().transform((text, context): Readonly<Record<string, string>> => {
    const pairs = text.split(',').map((pair) => pair.trim().split('='));
    if (pairs.every(([name, value]) => name !== '' && value !== undefined && value !== '')) {
      return Object.fromEntries(pairs.map(([name = '', ...value]) => [name, value.join('=')]));
    }
    context.addIssue({ code: 'custom', message: 'must be pairs such as zone=eu-1,disk=fast' });
    return z.NEVER;
  });
}
