import { setImmediate } from 'node:timers/promises';
import { NonRetryableError, OptionsInvalidError, RetryableError } from '@holdfast/domain';
import type { JobContext as EngineContext, JobLog as EngineLog } from '@holdfast/worker';
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
}

/** The context of one execution for its handler, on top of the engine's. Costly parts are made when they are asked for. */
export function createJobContext<Tx>(
  engine: EngineContext,
  { enqueue, emit }: ContextParts<Tx>,
): JobContext<Tx> {
  let log: JobLog | undefined;
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
    debug: eitherOrder(log.debug),
    info: eitherOrder(log.info),
    warn: eitherOrder(log.warn),
    error: eitherOrder(log.error),
  };
}

function eitherOrder(write: EngineLog['info']): LogWrite {
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
