import { explainConnectionError, isTransientError } from '@holdfast/database';
import { HoldfastError, claimName } from '@holdfast/domain';
import { createForwardingLogger, exitCodes, untilAvailable } from '@holdfast/runtime';
import type { Logger } from '@holdfast/runtime';
import { createScheduler } from '@holdfast/scheduler';
import { createWorkerEngine } from '@holdfast/worker';
import type {
  BackoffFunction,
  JobContext as EngineContext,
  TransactionOpener,
  WorkerEngine,
} from '@holdfast/worker';
import { durationMs } from './check-options.ts';
import type { OpenConnection } from './connection.ts';
import { engineHandlerOf } from './handler-of.ts';
import type { RegisteredHandler } from './handler-of.ts';
import { internalsOf } from './internals.ts';
import type { Internals } from './internals.ts';
import { jobRelations } from './job-relations.ts';
import { versionsOf } from './payload-versions.ts';
import { registerContracts } from './register-contracts.ts';
import type { HoldfastLogger } from './logger.ts';
import type { RunMiddleware } from './run-middleware.ts';
import { announceEnd, endEvents } from './worker-events.ts';
import { readWorkerOptions } from './worker-options.ts';
import type { WorkerOptions } from './worker-options.ts';

/** A worker that runs. */
export interface RunningWorker {
  /** Drains and signs off. */
  stop(drainTimeoutMs: number | undefined): Promise<void>;
}

/** What is started. */
export interface WorkerStart<Tx> {
  readonly options: WorkerOptions<Tx>;
  readonly handlers: readonly RegisteredHandler<Tx>[];
  readonly middleware: readonly RunMiddleware<Tx>[];
  /** Ends the waiting for a database that cannot be reached: somebody stops the worker. */
  readonly signal: AbortSignal;
  /** The worker cannot go on, or a person asked it to stop. */
  readonly onFatal: () => void;
}

/**
 * Starts the engine, and the scheduler's loops beside it when they are wanted.
 *
 * @throws HoldfastError as `Worker.start`
 */
export async function startWorker<Tx>(start: WorkerStart<Tx>): Promise<RunningWorker> {
  // Idle connections do not keep a process alive; a worker that waits for jobs must.
  const keepAlive = setInterval(() => undefined, 60_000);
  try {
    const running = await startServices(start);
    return {
      async stop(drainTimeoutMs) {
        await running.stop(drainTimeoutMs).finally(() => {
          clearInterval(keepAlive);
        });
      },
    };
  } catch (error) {
    clearInterval(keepAlive);
    throw error;
  }
}

async function startServices<Tx>(start: WorkerStart<Tx>): Promise<RunningWorker> {
  const { options, signal } = start;
  const internals = internalsOf(options.holdfast);
  const { connection, events } = internals;
  const logger = engineLogger(options.logger ?? connection.logger);
  const wait = { signal, logger };
  const open = await patiently(() => connection.open(), wait);
  const { database } = open;
  const { leaseMs, retention } = readWorkerOptions(options);
  const engine = makeEngine({ ...start, internals, open, logger });
  await patiently(() => engine.start(), wait);
  await registerContracts(open, start.handlers, logger);
  const scheduler =
    options.maintenance === false
      ? undefined
      : createScheduler({ database, logger, leaseMs, retention });
  await scheduler?.start();
  events.emit('WorkerStarted', {
    workerId: engine.id,
    types: start.handlers.flatMap((handler) =>
      versionsOf(handler).map((version) => claimName(handler.type, version)),
    ),
    queues: options.queues,
    concurrency: options.concurrency ?? 20,
  });
  return {
    async stop(drainTimeoutMs) {
      events.emit('WorkerStopping', { workerId: engine.id });
      await Promise.all([engine.stop({ drainTimeoutMs }), scheduler?.stop()]);
    },
  };
}

interface EngineStart<Tx> extends WorkerStart<Tx> {
  readonly internals: Internals;
  readonly open: OpenConnection;
  readonly logger: Logger;
}

function makeEngine<Tx>(start: EngineStart<Tx>): WorkerEngine {
  const { options, internals, open, logger } = start;
  const { events } = internals;
  const engine: WorkerEngine = createWorkerEngine({
    ...readWorkerOptions(options),
    database: open.database,
    projectId: open.projectId,
    handlers: handlersOf(start, (context) => {
      if (!events.has('JobProcessing')) return;
      const { id: jobId, type, queue, executionSeq } = context.job;
      const { attempt } = context;
      const workerId = engine.id;
      events.emit('JobProcessing', { jobId, type, queue, workerId, attempt, executionSeq });
    }),
    payloadVersions: Object.fromEntries(
      start.handlers.map((handler) => [handler.type, versionsOf(handler)]),
    ),
    backoffs: backoffsOf(start.handlers),
    fragileTypes: start.handlers.flatMap(({ type, defaults }) =>
      defaults.onCrash === 'dead_letter' ? [type] : [],
    ),
    transactions: openerOf(internals),
    labels: options.labels,
    build: options.build,
    logger,
    isGuest: true,
    observer: {
      isListening: () => endEvents.some((event) => events.has(event)),
      onEnded: (end) => {
        announceEnd(events, engine.id, end);
      },
    },
    onFatal: (reason) => {
      logger.error({ reason }, 'worker stops');
      if (reason === 'slots_stuck') process.exitCode = exitCodes.slotsStuck;
      start.onFatal();
    },
  });
  return engine;
}

function handlersOf<Tx>(
  { options, handlers, middleware, internals }: EngineStart<Tx>,
  onProcessing: (context: EngineContext) => void,
) {
  const { holdfast } = options;
  const relations = jobRelations(internals, holdfast.batches);
  const enqueue = holdfast.enqueue.bind(holdfast);
  const emit = holdfast.emit.bind(holdfast);
  const parts = { middleware, onProcessing, enqueue, emit, relations };
  return Object.fromEntries(
    handlers.map((handler) => [handler.type, engineHandlerOf(handler, parts)]),
  );
}

/** The backoffs that are functions; others are stored with their jobs. */
function backoffsOf<Tx>(
  handlers: readonly RegisteredHandler<Tx>[],
): Readonly<Record<string, BackoffFunction>> {
  const functions = handlers.flatMap(({ type, defaults: { backoff } }) => {
    if (typeof backoff !== 'function') return [];
    const backoffMs: BackoffFunction = (failure) => durationMs(backoff(failure)) ?? NaN;
    return [[type, backoffMs] as const];
  });
  return Object.fromEntries(functions);
}

/** Handlers get transactions of the application's own library, when its adapter can open them. */
function openerOf({ adapter, hasOwnAdapter }: Internals): TransactionOpener | undefined {
  if (!hasOwnAdapter) return undefined;
  return {
    toQueryable: (tx) => adapter.toQueryable(tx),
    transaction(run) {
      if (adapter.transaction !== undefined) return adapter.transaction(run);
      throw new TypeError(`The adapter of ${adapter.name} cannot open transactions`);
    },
  };
}

/** A worker starts when the database does, if that is soon. */
async function patiently<Result>(
  call: () => Promise<Result>,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<Result> {
  const unlessStopped = (): Promise<Result> => {
    signal.throwIfAborted();
    return call();
  };
  try {
    return await untilAvailable(unlessStopped, { isTransient: isTransientError, logger, signal });
  } catch (error) {
    if (!signal.aborted) throw explainConnectionError(error);
    const message = 'The worker was stopped before it had started';
    throw new HoldfastError(message, { code: 'shutdown', cause: error });
  }
}

function engineLogger(logger: HoldfastLogger): Logger {
  return createForwardingLogger((level, fields, message) => {
    logger[level](fields, message);
  });
}
