import { isTransientError, openDatabase, requireCurrentSchema } from '@holdfast/database';
import { createLogger, runProcess, runUntilSignal, untilAvailable } from '@holdfast/runtime';
import { createApi } from './api.ts';
import { loadApiConfig } from './config.ts';

// Requests in hand are answered; none may take longer than this.
const drainTimeoutMs = 35_000;

await runProcess(async () => {
  const config = loadApiConfig(process.env);
  const logger = createLogger({ name: 'api', level: config.logLevel, format: config.logFormat });
  const database = openDatabase({
    connectionString: config.databaseUrl,
    schema: config.schema,
    applicationName: 'holdfast api',
    pooled: config.isPooled,
    poolSize: config.poolSize,
    onIdleError: (error) => {
      logger.warn({ err: error }, 'database connection lost');
    },
  });
  await untilAvailable(() => requireCurrentSchema(database.settings), {
    isTransient: isTransientError,
    logger,
  });
  const api = await createApi({ config, database, logger });
  if (api.madeOwner?.password !== undefined) {
    // Once, and to nobody's log: it is a secret until it is changed at the first sign-in.
    const { email, password } = api.madeOwner;
    process.stderr.write(`First sign-in: ${email} with the password ${password}\n`);
  }
  const exitCode = await runUntilSignal(api.services, {
    drainTimeoutMs,
    logger,
    onSignal: () => {
      api.markDraining();
    },
  });
  await database.close();
  return exitCode;
});
