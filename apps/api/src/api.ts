import { createEnqueuer, createNotifier, createSettler, openDatabase } from '@holdfast/database';
import type { Database, Notifier, Settler } from '@holdfast/database';
import { systemClock } from '@holdfast/runtime';
import { createMetrics } from '@holdfast/runtime/create-metrics';
import type { Clock, Logger, Service } from '@holdfast/runtime';
import { createApp } from './app.ts';
import { createAccessTokens } from './auth/access-tokens.ts';
import { deriveKeys } from './auth/derived-keys.ts';
import { ensureOwner } from './auth/first-owner.ts';
import type { MadeOwner } from './auth/first-owner.ts';
import { createKeyUses } from './auth/key-uses.ts';
import { createPasswords } from './auth/passwords.ts';
import type { ApiConfig } from './config.ts';
import type { Dependencies } from './dependencies.ts';
import { createEventWatch } from './event-watch.ts';
import { createHttpServer } from './http-server.ts';
import type { HttpServer } from './http-server.ts';
import { createCursors } from './http/cursors.ts';
import { createDatabaseWatch } from './http/database-watch.ts';

/** An API process, put together. */
export interface Api {
  readonly server: HttpServer;
  /** What must be started, in order. */
  readonly services: readonly Service[];
  /** From now on `/readyz` answers 503. */
  markDraining(): void;
  /** The owner that was made because nobody could sign in yet. */
  readonly madeOwner: MadeOwner | undefined;
}

/** What an API process is made from. */
export interface ApiOptions {
  readonly config: ApiConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Between two heartbeats of an event stream; default 15 s. */
  readonly eventHeartbeatMs?: number;
}

/** Puts an API process together; the database must have its schema. The caller closes the database after the services. */
export async function createApi(options: ApiOptions): Promise<Api> {
  const { config, database, logger, clock = systemClock } = options;
  const { eventHeartbeatMs = 15_000 } = options;
  const nowMs = (): number => clock.nowMs();
  const passwords = await createPasswords();
  const madeOwner = await ensureOwner(database, {
    passwords,
    settings: config.owner,
    nowMs: nowMs(),
  });
  const keys = deriveKeys(config.secrets);
  const notifier = createNotifier(database);
  const settler = makeSettler(options, notifier);
  const probe = openDatabase({ ...database.settings, poolSize: 1 });
  const watch = createDatabaseWatch(probe, clock);
  const eventWatch = createEventWatch({ database, clock, logger });
  let draining = false;
  const deps: Dependencies = {
    ...{
      config,
      database,
      notifier,
      settler,
      watch,
      eventWatch,
      eventHeartbeatMs,
      logger,
      clock,
      keys,
      passwords,
    },
    keyUses: createKeyUses({ database, clock, logger }),
    enqueuer: createEnqueuer(database, notifier),
    metrics: createMetrics({ processMetrics: true }),
    tokens: createAccessTokens(keys.tokens, nowMs),
    cursors: createCursors(keys.cursors, nowMs),
    startedAt: new Date(nowMs()),
    isDraining: () => draining,
  };
  const server = createHttpServer({ app: createApp(deps), ...config, logger });
  const connections: Service = {
    name: 'connections',
    start: () => undefined,
    async stop() {
      await settler.idle();
      await notifier.close();
      await watch.close();
    },
  };
  return {
    server,
    // Stopped in reverse: streams end before the server waits for the answers in hand.
    services: [connections, server, eventWatch],
    markDraining() {
      draining = true;
    },
    madeOwner,
  };
}

function makeSettler({ database, logger }: ApiOptions, notifier: Notifier): Settler {
  return createSettler(database, {
    notifier,
    onError: (error) => {
      logger.warn({ err: error }, 'what follows from ended jobs is left to the schedulers');
    },
    onRenamed: (callback) => {
      logger.warn(
        callback,
        'the id of a callback was taken by another job, so the callback has a new one',
      );
    },
  });
}
