import type { JobInfo, Release, Stored } from '@holdfast/worker';
import type { JobBatch } from './batches/job-batch.ts';
import type { JobParents } from './batches/job-parents.ts';
import type { EnqueueResult } from './enqueue-result.ts';
import type { EmitOptions, EmitResult } from './event-calls.ts';
import type { DataAndOptions, EventName } from './event-types.ts';
import type { EnqueueArgs, JobDefinition, ResultFor } from './job-definition.ts';
import type { Duration, EnqueueOptions } from './job-options.ts';
import type { RegisteredTransaction } from './register.ts';

/** Writes a line to the log of this execution, which is stored with it; in either order. */
export interface LogWrite {
  (fields: Readonly<Record<string, unknown>>, message: string): void;
  (message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The log of an execution: at most 1 000 lines and 64 kB; what comes after that is dropped. */
export interface JobLog {
  readonly debug: LogWrite;
  readonly info: LogWrite;
  readonly warn: LogWrite;
  readonly error: LogWrite;
}

/** How a failed attempt goes on. */
export interface FailOptions {
  /** False: the job becomes a dead letter at once. Default true. */
  readonly retry?: boolean | undefined;
  /** How long to wait before the next attempt, instead of the backoff. */
  readonly delay?: Duration | undefined;
}

/**
 * What a handler is given beside the payload. Its functions may be taken out of it.
 *
 * @typeParam Tx the transaction of the application's database library
 */
export interface JobContext<Tx = RegisteredTransaction> {
  readonly job: JobInfo;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * Aborts on timeout, cancel, drain and when the lease is lost; `signal.reason.code` says which. What a handler does
   * after the lease is lost counts for nothing.
   */
  readonly signal: AbortSignal;
  readonly log: JobLog;
  /** Reports how far the handler is, 0 to 100, with a note for people. */
  readonly progress: (percent: number, note?: string) => Promise<void>;
  /**
   * To be returned: `return ctx.release('1m', 'rate limited')` runs the job later without using up an attempt; at most
   * 100 times.
   */
  readonly release: (delay: Duration, reason?: string) => Release;
  /** Throws the error, so that the attempt has failed; `{ retry: false }` makes the job a dead letter at once. */
  readonly fail: (error: unknown, options?: FailOptions) => never;
  /**
   * For long loops on the CPU: lets the process do its other work, and throws when the handler is to end. The lease is
   * kept without it.
   */
  readonly heartbeat: () => Promise<void>;
  /** The batch, chain or graph that the job is a member or a callback of. */
  readonly batch: JobBatch<Tx> | undefined;
  /** What the jobs that this one waited for have left. */
  readonly parents: JobParents;
  /** Enqueues another job, as `holdfast.enqueue`. */
  readonly enqueue: ContextEnqueue<Tx>;
  /** Emits an event, as `holdfast.emit`. */
  readonly emit: ContextEmit<Tx>;
  /**
   * Runs `run` in a transaction that completes the job as well: what it writes through `tx` and the end of the job are
   * committed together, or neither is. What `run` gives is the job's result.
   *
   * @throws LeaseLostError when the worker's lease is gone; then nothing was written
   */
  readonly transaction: <Result>(run: (tx: Tx) => Promise<Result>) => Promise<Result>;
  /**
   * Makes sure, inside a transaction of the handler's own, that the lease holds until the transaction has ended.
   *
   * @throws LeaseLostError when the lease is gone
   */
  readonly assertLease: (tx: Tx) => Promise<void>;
  /**
   * A step whose result is kept: a later attempt is given it and does not run the step again. What it gives has been
   * through JSON, also the first time. Names are 1 to 200 characters, each used once in an execution.
   */
  readonly step: <Result>(
    name: string,
    run: () => Result | Promise<Result>,
  ) => Promise<Stored<Result>>;
}

/** `emit` as the context has it. */
export type ContextEmit<Tx> = <Event extends EventName>(
  event: Event,
  ...args: DataAndOptions<Event, EmitOptions<Tx>>
) => Promise<EmitResult>;

/** `enqueue` as the context has it. */
export type ContextEnqueue<Tx> = <Job extends JobDefinition | string>(
  job: Job,
  ...args: EnqueueArgs<Job, EnqueueOptions<Tx>>
) => Promise<EnqueueResult<ResultFor<Job>>>;
