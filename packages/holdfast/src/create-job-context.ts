import { setImmediate } from 'node:timers/promises';
import { NonRetryableError, OptionsInvalidError, RetryableError } from '@holdfast/domain';
import { toAttemptError } from '@holdfast/worker';
import type { JobContext as EngineContext, JobLog as EngineLog } from '@holdfast/worker';
import { jobBatch } from './batches/job-batch.ts';
import type { JobBatch } from './batches/job-batch.ts';
import { jobParents } from './batches/job-parents.ts';
import type { JobParents } from './batches/job-parents.ts';
import type { JobRelations } from './job-relations.ts';
import { OptionCheck, requireFunction } from './check-options.ts';
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

/**
 * The context of one execution for its handler, on top of the engine's. Costly parts are made when they are asked for. A
 * plain object, so that handlers may spread it as well.
 */
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
    transaction: async (run) => {
      requireFunction('ctx.transaction', 'argument', run);
      return engine.transaction(run);
    },
    assertLease: async (tx) => {
      requireTransaction(tx);
      return engine.assertLease(tx);
    },
    step: (name, run) => engine.step(name, run),
  };
}

/** Callers in plain JavaScript hand in what they have. @throws OptionsInvalidError */
function requireTransaction(tx: unknown): void {
  if ((typeof tx === 'object' && tx !== null) || typeof tx === 'function') return;
  throw new OptionsInvalidError('ctx.assertLease', ['tx must be a transaction']);
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
function fail(error: unknown, options: FailOptions = {}): never {
  const { retry, retryAfterMs } = readFailOptions(error, options);
  if (retry && retryAfterMs === undefined) throw error;
  const { message, code, stack } = toAttemptError(error, '');
  const more = { cause: error, code };
  const wrapper = retry
    ? new RetryableError(message, {
        ...more,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    : new NonRetryableError(message, more);
  // The stored error is to tell of the handler's own error, not of the wrapping.
  throw stack === undefined ? wrapper : Object.assign(wrapper, { stack });
}

/** @throws NonRetryableError with the code `options_invalid`: the next attempt would give the same options */
function readFailOptions(error: unknown, options: FailOptions) {
  const check = new OptionCheck('ctx.fail');
  if (!check.names(options, ['retry', 'delay'])) refuse(check, error);
  const { retry = true, delay } = options;
  if (typeof retry !== 'boolean') check.refuse('retry must be true or false');
  const retryAfterMs = check.duration('delay', delay);
  refuse(check, error);
  return { retry, retryAfterMs };
}

function refuse(check: OptionCheck, error: unknown): void {
  try {
    check.done();
  } catch (refusal) {
    const { code, message } = toAttemptError(refusal, '');
    const { message: lost } = toAttemptError(error, '');
    throw new NonRetryableError(`${message} (the error to fail with: ${lost})`, {
      code,
      cause: error,
    });
  }
}
