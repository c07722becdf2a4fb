import {
  isTransientError,
  openDatabase,
  readServer,
  requireCurrentSchema,
} from '@holdfast/database';
import {
  answerCheck,
  createLogger,
  createLoopWatchdog,
  createProbeServer,
  livenessOf,
  readinessOf,
  runProcess,
  runUntilSignal,
  untilAvailable,
} from '@holdfast/runtime';
import { createMetrics } from '@holdfast/runtime/create-metrics';
import { createScheduler } from '@holdfast/scheduler';
import { readConfig } from './config.ts';
import type { StopRequest } from '@holdfast/runtime';

// Loops end their round in hand, and no statement runs longer than this.
const drainTimeoutMs = 15_000;

await runProcess(async () => {
  const config = readConfig(process.env);
  const logger = createLogger({
    name: 'scheduler',
    level: config.logLevel,
    format: config.logFormat,
  });
  const database = openDatabase({
    connectionString: config.databaseUrl,
    schema: config.schema,
    applicationName: 'holdfast scheduler',
    pooled: config.isPooled,
    poolSize: 8,
    onIdleError: (error) => {
      logger.warn({ err: error }, 'database connection lost');
    },
  });
  try {
    await untilAvailable(() => requireCurrentSchema(database.settings), {
      isTransient: isTransientError,
      logger,
    });
    const metrics = createMetrics({ processMetrics: true });
    const scheduler = createScheduler({ ...config, database, logger, metrics });
    const { loops, urgentLoops } = scheduler;
    const probe = createProbeServer({
      port: config.probePort ?? 0,
      live: livenessOf(loops),
      ready: [answerCheck('database', () => readServer(database)), ...readinessOf(urgentLoops)],
      metrics,
    });
    let stop: (request: StopRequest) => void = () => undefined;
    const watchdog = createLoopWatchdog({
      ...{ loops, logger },
      stop: (request) => {
        stop(request);
      },
    });
    const probes = config.probePort === undefined ? [] : [probe];
    return await runUntilSignal([...probes, scheduler, watchdog], {
      drainTimeoutMs,
      logger,
      onSignal: () => {
        probe.markDraining();
      },
      onStopper: (stopper) => {
        stop = stopper;
      },
    });
  } finally {
    await database.close();
  }
});
