import { setImmediate } from 'node:timers/promises';
import { NonRetryableError, RetryableError } from '@holdfast/domain';
import { toAttemptError } from '@holdfast/worker';
import type { JobContext as EngineContext, JobLog as EngineLog } from '@holdfast/worker';
import { jobBatch } from './batches/job-batch.ts';
import type { JobBatch } from './batches/job-batch.ts';
import { jobParents } from './batches/job-parents.ts';
import type { JobParents } from './batches/job-parents.ts';
import type { JobRelations } from './job-relations.ts';
import { OptionCheck } from './check-options.ts';
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

/** The context of one execution for its handler, on top of the engine's. */
export function createJobContext<Tx>(
  engine: EngineContext,
  parts: ContextParts<Tx>,
): JobContext<Tx> {
  return new HandlerContext(engine, parts);
}

/** What a handler does not ask for is not made: this is made for every job. */
class HandlerContext<Tx> implements JobContext<Tx> {
  readonly attempt: number;
  readonly #engine: EngineContext;
  readonly #parts: ContextParts<Tx>;
  #log: JobLog | undefined;
  #batch: JobBatch<Tx> | undefined;
  #parents: JobParents | undefined;

  constructor(engine: EngineContext, parts: ContextParts<Tx>) {
    this.attempt = engine.attempt;
    this.#engine = engine;
    this.#parts = parts;
  }

  get job() {
    return this.#engine.job;
  }

  get signal() {
    return this.#engine.signal;
  }

  get log() {
    this.#log ??= logOf(this.#engine.log);
    return this.#log;
  }

  get batch() {
    const { batchId } = this.job;
    if (batchId === undefined) return undefined;
    this.#batch ??= jobBatch(this.#parts.relations.batches, batchId);
    return this.#batch;
  }

  get parents() {
    this.#parents ??= jobParents(() => this.#parts.relations.readParents(this.job.id));
    return this.#parents;
  }

  // What follows is bound, since handlers take their context apart.

  get progress(): JobContext<Tx>['progress'] {
    return (percent, note) => {
      this.#engine.progress(percent, note);
      return Promise.resolve();
    };
  }

  get release(): JobContext<Tx>['release'] {
    return (delay, reason) => this.#engine.release(delay, reason);
  }

  readonly fail = fail;

  get heartbeat(): JobContext<Tx>['heartbeat'] {
    return async () => {
      await setImmediate();
      this.signal.throwIfAborted();
    };
  }

  get enqueue() {
    return this.#parts.enqueue;
  }

  get emit() {
    return this.#parts.emit;
  }

  get transaction(): JobContext<Tx>['transaction'] {
    return (run) => this.#engine.transaction(run);
  }

  get assertLease(): JobContext<Tx>['assertLease'] {
    return (tx) => this.#engine.assertLease(tx);
  }

  get step(): JobContext<Tx>['step'] {
    return (name, run) => this.#engine.step(name, run);
  }
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
