import type { Release } from '@holdfast/worker';
import type { JobContext } from './job-context.ts';
import type {
  Backoff,
  BackoffFunction,
  Duration,
  JobOptions,
  RetryOptions,
} from './job-options.ts';
import type { PayloadUpgrade } from './payload-versions.ts';
import type { RegisteredTransaction } from './register.ts';
import type { StandardSchema } from './standard-schema.ts';

/** What may be said of every job of a type. */
export interface JobDefaults extends RetryOptions {
  /** Default `default`. */
  readonly queue?: string | undefined;
  readonly backoff?: Backoff | BackoffFunction | undefined;
  /** How long one attempt may run, from its start; at most a day, default 5 min. */
  readonly timeout?: Duration | undefined;
  /** 0 (first) to 9 (last); default 5. */
  readonly priority?: number | undefined;
  /** At most 20 words to find the job by. */
  readonly tags?: readonly string[] | undefined;
  /** What becomes of a job whose worker died: tried again (default), or a dead letter, for effects that must not repeat. */
  readonly onCrash?: 'retry' | 'dead_letter' | undefined;
  /** `thread`: the handler runs in a thread of its own, which a timeout or a cancel can end. Needs `module`. */
  readonly isolate?: 'thread' | undefined;
  /** The module that exports the definition, for the thread: `import.meta.url`. */
  readonly module?: string | URL | undefined;
}

/** The code of a job: gets the payload as the schema made it; what it returns is stored as the result. */
export type JobRun<Output, Result> = (payload: Output, ctx: JobContext) => Result | Promise<Result>;

/**
 * A job type, made by `defineJob`. `Input` is what `enqueue` takes, `Output` what the handler gets, `Result` what the
 * handler gives, `Tx` the transaction that the worker of its `run` must have: `unknown` when it may have any.
 */
export interface JobDefinition<
  Type extends string = string,
  Input = unknown,
  Output = unknown,
  Result = unknown,
  Tx = RegisteredTransaction,
> {
  readonly type: Type;
  readonly defaults: JobDefaults;
  readonly schema: StandardSchema<Input, Output> | undefined;
  /** Of the payload's shape; 1 when nothing was said of it. */
  readonly version: number;
  /** How payloads of older versions become newer ones, by the version that each begins with. */
  readonly upgrades: Readonly<Record<number, PayloadUpgrade>>;
  // A method, so that a list may hold definitions of any payload.
  run?(payload: Output, ctx: JobContext): Result | Promise<Result>;
  /** This job with a payload, for chains, batches, graphs and schedules. The payload is checked when it is enqueued. */
  with(...args: PayloadAndOptions<Input, JobOptions>): JobRequest<Input, Result>;
  /** Only for the compiler; never set. */
  readonly '~types'?: JobTypes<Input, Output, Exclude<Result, Release>, Tx> | undefined;
}

/**
 * A definition that a worker may have: its `run` wants no transaction, or the worker's.
 *
 * @typeParam Tx the transaction of the worker
 */
export type WorkerJob<Tx = RegisteredTransaction> = JobDefinition<
  string,
  unknown,
  unknown,
  unknown,
  Tx
>;

/**
 * A handler that is given apart from its definition. One signature for definitions and types' names, as for `EnqueueArgs`;
 * a release is always allowed.
 */
export type HandlerFor<Job extends JobDefinition | string, Tx> = [Job] extends [JobDefinition]
  ? (payload: OutputOf<Job>, ctx: JobContext<Tx>) => Given<ResultOf<Job> | Release>
  : (payload: unknown, ctx: JobContext<Tx>) => unknown;

type Given<Result> = Result | Promise<Result>;

/** The types that a definition carries. */
export interface JobTypes<Input, Output, Result, Tx> {
  readonly input: Input;
  readonly output: Output;
  readonly result: Result;
  /** Takes the worker's transaction, so that a worker must give at least what the handler wants. */
  readonly worksOn: (tx: Tx) => void;
}

/**
 * The transaction that a handler wants of its worker. None, `unknown`, when there is no handler, when it takes no context,
 * and when it takes of that only what is the same for every worker.
 */
export type TransactionOfRun<Run> = unknown extends Run
  ? unknown
  : Run extends (payload: never, ctx: JobContext<TransactionOfNobody>) => unknown
    ? unknown
    : RegisteredTransaction;

interface TransactionOfNobody {
  readonly '~nobody': never;
}

/** A job to be made: what `definition.with(payload)` gives. */
export interface JobRequest<Input = unknown, Result = unknown> {
  readonly job: JobDefinition<string, Input, unknown, Result>;
  readonly payload: Input;
  readonly options: JobOptions;
}

/** Payload and options as arguments; a payload that may be left out comes first all the same. */
export type PayloadAndOptions<Input, Options> = undefined extends Input
  ? [payload?: Input, options?: Options]
  : [Input, Partial<Input>] extends [object, Input]
    ? [payload?: Input, options?: Options]
    : [payload: Input, options?: Options];

type TypesOf<Job extends JobDefinition> = NonNullable<Job['~types']>;

/** What `enqueue` takes for a definition. */
export type InputOf<Job extends JobDefinition> = TypesOf<Job>['input'];

/** What a job has completed with; of a type's name alone nothing is known. */
export type ResultFor<Job extends JobDefinition | string> = Job extends JobDefinition
  ? ResultOf<Job>
  : unknown;

/** What `enqueue` takes for a definition; of a type's name alone nothing is known. */
export type PayloadOf<Job extends JobDefinition | string> = Job extends JobDefinition
  ? InputOf<Job>
  : unknown;

/**
 * Payload and options as arguments, for a definition or a type's name. One signature for both, since the compiler would
 * tell of a wrong payload that a definition is no string if there were two.
 */
export type EnqueueArgs<Job extends JobDefinition | string, Options> = Job extends JobDefinition
  ? PayloadAndOptions<InputOf<Job>, Options>
  : [payload?: unknown, options?: Options];

/** What the handler of a definition gets. */
export type OutputOf<Job extends JobDefinition> = TypesOf<Job>['output'];

/** What a job of a definition has completed with: what its handler gives, a release aside. */
export type ResultOf<Job extends JobDefinition> = TypesOf<Job>['result'];
