import { isTransientError, openDatabase, requireCurrentSchema } from '@holdfast/database';
import {
  createLogger,
  createMetrics,
  runProcess,
  runUntilSignal,
  untilAvailable,
} from '@holdfast/runtime';
import { readConfig } from './config.ts';
import { createScheduler } from './scheduler.ts';
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
    let stop: (request: StopRequest) => void = () => undefined;
    const scheduler = createScheduler({
      ...{ config, database, logger, metrics: createMetrics({ processMetrics: true }) },
      stop: (request) => {
        stop(request);
      },
    });
    return await runUntilSignal(scheduler.services, {
      drainTimeoutMs,
      logger,
      onSignal: scheduler.markDraining,
      onStopper: (stopper) => {
        stop = stopper;
      },
    });
  } finally {
    await database.close();
  }
});
