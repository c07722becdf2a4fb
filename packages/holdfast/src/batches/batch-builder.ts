import { HoldfastError } from '@holdfast/domain';
import type { CallbackRole } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import type { JobRequest } from '../job-definition.ts';
import type { RegisteredTransaction } from '../register.ts';
import type { BatchEnqueueResult, BatchPlan, PlannedCallback } from './batch-plan.ts';
import { isJobRequest } from './is-job-request.ts';

/** Enqueues what was planned, all or nothing. */
export type EnqueuePlan = (plan: BatchPlan, tx: unknown) => Promise<BatchEnqueueResult>;

/** How often a batch reports its progress. */
export interface ProgressOptions {
  /** At each multiple of this many percent of ended jobs, up to 100; default 25. */
  readonly every?: number | undefined;
}

const plans = new WeakMap<object, BatchPlan>();

/** The plan of a builder; `undefined` for anything else. */
export function planOf(value: unknown): BatchPlan | undefined {
  return typeof value === 'object' && value !== null ? plans.get(value) : undefined;
}

/**
 * A batch, chain or graph that is being put together. Nothing is written before `enqueue`. Each call gives a new builder,
 * and none of them changes.
 *
 * It is no promise, although it has `then`: to `await` one is an error, and so is to return one from an async function.
 *
 * @typeParam Tx the transaction of the application's database library
 */
export class BatchBuilder<Tx = RegisteredTransaction> {
  readonly #plan: BatchPlan;
  readonly #enqueue: EnqueuePlan;

  /** Made by `holdfast.batch`, `holdfast.chain` and `holdfast.graph`. */
  constructor(plan: BatchPlan, enqueue: EnqueuePlan) {
    this.#plan = plan;
    this.#enqueue = enqueue;
    plans.set(this, plan);
  }

  /** The job that is enqueued once when all have completed, or ended if failures are allowed. */
  then(job: JobRequest): BatchBuilder<Tx>;
  then(...args: readonly unknown[]): BatchBuilder<Tx> {
    if (args.some((arg) => typeof arg === 'function')) return refuseAwait(this.#plan, args[1]);
    // Anything else is looked at as from a caller in plain JavaScript.
    const request = args[0] as JobRequest;
    return this.#with('then', [{ role: 'then', percent: undefined, request }]);
  }

  /** The job that is enqueued once, with the first dead letter. */
  catch(job: JobRequest): BatchBuilder<Tx> {
    return this.#with('catch', [{ role: 'catch', percent: undefined, request: job }]);
  }

  /** The job that is enqueued once when all have ended, and what `then` or `catch` called for has ended too. */
  finally(job: JobRequest): BatchBuilder<Tx> {
    return this.#with('finally', [{ role: 'finally', percent: undefined, request: job }]);
  }

  /** A job that is enqueued each time when a further share of the jobs has ended. */
  progress(job: JobRequest, options: ProgressOptions = {}): BatchBuilder<Tx> {
    const check = new OptionCheck(`${this.#plan.kind}().progress`);
    if (!check.names(options, ['every'])) check.done();
    const every = check.whole('every', options.every, { min: 1, max: 100 }) ?? 25;
    check.done();
    const count = Math.floor(100 / every);
    const percents = Array.from({ length: count }, (_, index) => (index + 1) * every);
    return this.#with(
      'progress',
      percents.map((percent) => ({ role: 'progress', percent, request: job })),
    );
  }

  /**
   * Writes the batch with all its jobs, or nothing. Resolves after the commit; with `tx`, when it is part of that
   * transaction. A lost connection is tried again, and makes no second batch.
   *
   * @throws PayloadInvalidError, PayloadTooLargeError, OptionsInvalidError, TransactionInvalidError; HoldfastError
   * `batch_member_exists` when an id is taken, that of the batch by another one: nothing was written then
   */
  async enqueue(options: { readonly tx?: Tx | undefined } = {}): Promise<BatchEnqueueResult> {
    const check = new OptionCheck(`${this.#plan.kind}().enqueue`);
    check.names(options, ['tx']);
    check.done();
    return this.#enqueue(this.#plan, options.tx);
  }

  #with(role: CallbackRole, added: readonly PlannedCallback[]): BatchBuilder<Tx> {
    const plan = this.#plan;
    const check = new OptionCheck(`${plan.kind}().${role}`);
    if (!added.every(({ request }) => isJobRequest(request))) {
      check.refuse('it takes a job with a payload: use job.with(payload)');
    }
    if (plan.callbacks.some((callback) => callback.role === role))
      check.refuse('it is set already');
    check.done();
    return new BatchBuilder({ ...plan, callbacks: [...plan.callbacks, ...added] }, this.#enqueue);
  }
}

/** `await` calls `then` with two functions, and takes what the second is called with for what was thrown. */
function refuseAwait({ kind }: BatchPlan, reject: unknown): never {
  const error = new HoldfastError(
    `A ${kind} is no promise, so it cannot be awaited: call its enqueue() and await that`,
    { code: 'batch_awaited' },
  );
  if (typeof reject !== 'function') throw error;
  (reject as (reason: unknown) => void)(error);
  // Nobody looks at what `then` gives to `await`.
  return undefined as never;
}
