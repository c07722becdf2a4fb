import { setImmediate } from 'node:timers/promises';
import { NonRetryableError, OptionsInvalidError, RetryableError } from '@holdfast/domain';
import type { JobContext as EngineContext, JobLog as EngineLog } from '@holdfast/worker';
import { jobBatch } from './batches/job-batch.ts';
import type { JobBatch } from './batches/job-batch.ts';
import { jobParents } from './batches/job-parents.ts';
import type { JobParents } from './batches/job-parents.ts';
import type { JobRelations } from './job-relations.ts';
import { durationMs } from './check-options.ts';
import type {
  ContextEmit,
  ContextEnqueue,
  FailOptions,
  JobContext,
  JobLog,
  LogWrite,
} from './job-context.ts';

/** What contexts are made with, once for each worker. */
export interface ContextParts<Tx> {
  readonly enqueue: ContextEnqueue<Tx>;
  readonly emit: ContextEmit<Tx>;
  /** The way to a job's batch and parents. */
  readonly relations: JobRelations<Tx>;
}

/** The context of one execution for its handler, on top of the engine's. Costly parts are made when they are asked for. */
export function createJobContext<Tx>(
  engine: EngineContext,
  { enqueue, emit, relations }: ContextParts<Tx>,
): JobContext<Tx> {
  let log: JobLog | undefined;
  let batch: JobBatch<Tx> | undefined;
  let parents: JobParents | undefined;
  return {
    get job() {
      return engine.job;
    },
    attempt: engine.attempt,
    get signal() {
      return engine.signal;
    },
    get log() {
      log ??= logOf(engine.log);
      return log;
    },
    get batch() {
      const { batchId } = engine.job;
      if (batchId === undefined) return undefined;
      batch ??= jobBatch(relations.batches, batchId);
      return batch;
    },
    get parents() {
      parents ??= jobParents(() => relations.readParents(engine.job.id));
      return parents;
    },
    progress: (percent, note) => {
      engine.progress(percent, note);
      return Promise.resolve();
    },
    release: (delay, reason) => engine.release(delay, reason),
    fail,
    heartbeat: async () => {
      await setImmediate();
      engine.signal.throwIfAborted();
    },
    enqueue,
    emit,
    transaction: (run) => engine.transaction(run),
    assertLease: (tx) => engine.assertLease(tx),
    step: (name, run) => engine.step(name, run),
  };
}

function logOf(log: EngineLog): JobLog {
  return {
    debug: eitherOrder((message, fields) => log.debug(message, fields)),
    info: eitherOrder((message, fields) => log.info(message, fields)),
    warn: eitherOrder((message, fields) => log.warn(message, fields)),
    error: eitherOrder((message, fields) => log.error(message, fields)),
  };
}

function eitherOrder(
  write: (message: string, fields?: Readonly<Record<string, unknown>>) => void,
): LogWrite {
  return (first: unknown, second?: unknown): void => {
    if (isFields(first)) write(typeof second === 'string' ? second : '', first);
    else write(String(first), isFields(second) ? second : undefined);
  };
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Throws what makes the attempt fail in the wanted way, with the message, code and stack of the error. */
function fail(error: unknown, { retry = true, delay }: FailOptions = {}): never {
  if (!retry) throw disguise(new NonRetryableError(messageOf(error), { cause: error }), error);
  if (delay === undefined) throw error;
  const retryAfterMs = durationMs(delay);
  if (retryAfterMs === undefined) {
    throw new OptionsInvalidError('ctx.fail', [`"${String(delay)}" is not a duration`]);
  }
  throw disguise(new RetryableError(messageOf(error), { cause: error, retryAfterMs }), error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The stored error is to tell of the handler's own error, not of the wrapping. */
function disguise(wrapper: Error, error: unknown): Error {
  if (!(error instanceof Error)) return wrapper;
  if (error.stack !== undefined) wrapper.stack = error.stack;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'handler_failed';
  return Object.assign(wrapper, { code });
}
