import { defaultRetention } from '@holdfast/database';
import { formatDuration } from '@holdfast/domain';
import { commonFields, durationField, switchField } from '@holdfast/runtime/config-fields';
import { loadConfig } from '@holdfast/runtime/load-config';
import { z } from 'zod';
import type { Retention } from '@holdfast/database';
import type { Environment, LogFormat, LogLevel } from '@holdfast/runtime';

/** What a scheduler process runs with. */
export interface SchedulerConfig {
  readonly databaseUrl: string;
  readonly schema: string;
  /** The workers' lease: after a failover nothing is reaped for this long. */
  readonly leaseMs: number;
  /** The longest sleep of promoter, reaper and cron. */
  readonly tickMs: number;
  readonly retention: Retention;
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
  HOLDFAST_LEASE: durationField({ default: '30s', min: '500ms', max: '1h' }),
  HOLDFAST_TICK: durationField({ default: '10s', min: '100ms', max: '10s' }),
  HOLDFAST_RETENTION_HISTORY: retentionField(defaultRetention.historyMs),
  HOLDFAST_RETENTION_DEAD_LETTERS: retentionField(defaultRetention.deadLettersMs),
  HOLDFAST_NOTIFY: switchField().default(true),
  HOLDFAST_POOLED: switchField().default(false),
});

function retentionField(defaultMs: number) {
  return durationField({ default: formatDuration(defaultMs), min: '1h' });
}

/**
 * Reads the scheduler's configuration from environment variables.
 *
 * @throws ConfigError that lists every problem
 */
export function readConfig(env: Environment): SchedulerConfig {
  const values = loadConfig(schema, env);
  return {
    databaseUrl: values.DATABASE_URL,
    schema: values.HOLDFAST_SCHEMA,
    leaseMs: values.HOLDFAST_LEASE,
    tickMs: values.HOLDFAST_TICK,
    retention: {
      ...defaultRetention,
      historyMs: values.HOLDFAST_RETENTION_HISTORY,
      deadLettersMs: values.HOLDFAST_RETENTION_DEAD_LETTERS,
    },
    hasNotifications: values.HOLDFAST_NOTIFY,
    isPooled: values.HOLDFAST_POOLED,
    probePort: values.HOLDFAST_PROBE_PORT,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
  };
}
