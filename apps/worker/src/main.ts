import { setFlagsFromString } from 'node:v8';
import { isTransientError, openDatabase, requireCurrentSchema } from '@holdfast/database';
import { createLogger, runProcess, runUntilSignal, untilAvailable } from '@holdfast/runtime';
import { createMetrics } from '@holdfast/runtime/create-metrics';
import { readConfig } from './config.ts';
import { createProbe } from './probe.ts';
import { createWorkerService } from './worker-service.ts';
import type { StopRequest } from '@holdfast/runtime';

/**
 * Jobs live just long enough in a busy worker to reach the old generation of the heap, and die there at once. By default
 * the heap grows to four times of what lives before they are collected; this makes it twice.
 */
setFlagsFromString('--heap-growing-percent=100');

// After the drain, ends must be written and connections closed.
const closingMs = 10_000;

await runProcess(async () => {
  const config = readConfig(process.env);
  const logger = createLogger({
    name: 'worker',
    level: config.logLevel,
    format: config.logFormat,
  });
  const database = openDatabase({
    connectionString: config.databaseUrl,
    schema: config.schema,
    applicationName: 'holdfast worker',
    pooled: config.isPooled,
    poolSize: 3,
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
    let stop: (request: StopRequest) => void = () => undefined;
    const worker = await createWorkerService({
      ...{ config, database, logger, metrics },
      stop: (request) => {
        stop(request);
      },
    });
    const probe = createProbe({ config, database, worker, metrics });
    return await runUntilSignal([...probe.services, worker], {
      drainTimeoutMs: config.drainTimeoutMs + closingMs,
      parentGoneTimeoutMs: closingMs,
      logger,
      onSignal: probe.markDraining,
      onStopper: (stopper) => {
        stop = stopper;
      },
    });
  } finally {
    await database.close();
  }
});
