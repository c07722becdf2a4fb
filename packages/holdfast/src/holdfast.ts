import type { EventPage, MigrationReport } from '@holdfast/database';
import { jobLimits } from '@holdfast/domain';
import type { LifeCycleEvent } from '@holdfast/domain';
import type { Stored } from '@holdfast/worker';
import { BatchBuilder } from './batches/batch-builder.ts';
import type { BatchMember, BatchOptions, BatchPlan } from './batches/batch-plan.ts';
import { Batches } from './batches/batches.ts';
import { planGraph } from './batches/graph-builder.ts';
import type { GraphBuilder } from './batches/graph-builder.ts';
import { planBatch, planChain } from './batches/plan-batch.ts';
import { writeBatch } from './batches/write-batch.ts';
import { OptionCheck, requireFunction } from './check-options.ts';
import { Connection } from './connection.ts';
import { connectionOf } from './connection-options.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { enqueueMany } from './enqueue-many.ts';
import type {
  EnqueueManyResult,
  EnqueueMiddleware,
  EnqueueResult,
  JobId,
} from './enqueue-result.ts';
import { emitEvent, endSubscription, readEvents, subscribeToEvent } from './event-calls.ts';
import type {
  EmitOptions,
  EmitResult,
  EventSubscription,
  ListenerOptions,
  ReadEventsOptions,
} from './event-calls.ts';
import { EventHub } from './event-hub.ts';
import type { HoldfastEvent, HoldfastListener } from './event-map.ts';
import type { DataAndOptions, EventName, TakesEvent } from './event-types.ts';
import { listExecutionsOf, listLogsOf } from './executions.ts';
import type { Execution, ListLogsOptions, LogPage } from './executions.ts';
import { keepInternals } from './internals.ts';
import type { Internals } from './internals.ts';
import { actOnJob, cancelJobOf, readJobOf } from './job-calls.ts';
import type { CancelOptions, CancelResult } from './job-calls.ts';
import type {
  EnqueueArgs,
  JobDefinition,
  JobRequest,
  PayloadOf,
  ResultFor,
} from './job-definition.ts';
import { checkDraft } from './job-draft.ts';
import type { EnqueueManyOptions, EnqueueOptions } from './job-options.ts';
import { JobWriter } from './job-writer.ts';
import type { Job } from './job.ts';
import { listJobsOf } from './list-jobs.ts';
import type { JobPage, ListJobsOptions } from './list-jobs.ts';
import { silentLogger } from './logger.ts';
import type { HoldfastLogger } from './logger.ts';
import { pgTransactionAdapter } from './pg-transaction.ts';
import type { PgTransaction } from './pg-transaction.ts';
import { Queues } from './queues.ts';
import type { RegisteredTransaction } from './register.ts';
import { Schedules } from './schedules.ts';
import type { TransactionAdapter } from './transaction-adapter.ts';
import { waitForJob } from './wait-for-job.ts';
import type { WaitOptions } from './wait-for-job.ts';

/** Where the jobs are, and how to reach them. */
export type HoldfastOptions<Tx = RegisteredTransaction> = ConnectionOptions & {
  /** The name of the project; default `default`. */
  readonly project?: string | undefined;
  /** The schema of Holdfast's tables; default `holdfast`. */
  readonly schema?: string | undefined;
  /** Takes part in the transactions of your database library; default: those of a `pg` client. */
  readonly adapter?: TransactionAdapter<Tx> | undefined;
  /** In the manner of pino; default: silence. */
  readonly logger?: HoldfastLogger | undefined;
  /** How many bytes of JSON a payload may have; default 256 kB, at most 1 MB. */
  readonly maxPayloadBytes?: number | undefined;
  /** Connections for single calls at most, beside two for enqueues and one for wake-ups; default 5. */
  readonly poolSize?: number | undefined;
  /** Behind a pooler in transaction mode: no prepared statements and no wake-ups; workers poll. Default false. */
  readonly pooled?: boolean | undefined;
} & AdapterIfNeeded<Tx>;

/** Without an adapter transactions are those of `pg`: where they are another library's, one must be given. */
type AdapterIfNeeded<Tx> = [PgTransaction] extends [Tx]
  ? unknown
  : { readonly adapter: TransactionAdapter<Tx> };

const optionNames = [
  ...['connectionString', 'pool', 'project', 'schema', 'adapter', 'logger'],
  ...['maxPayloadBytes', 'poolSize', 'pooled'],
];

/**
 * The way to enqueue jobs and to look after them. Nothing is sent to the database before the first call. One instance for
 * each process is enough.
 *
 * @typeParam Tx the transaction of the application's database library, see `adapter`
 */
export class Holdfast<Tx = RegisteredTransaction> implements AsyncDisposable {
  /** The queues of the project. */
  readonly queues: Queues;
  /** The schedules of the project. */
  readonly schedules: Schedules;
  /** The batches, chains and graphs of the project. */
  readonly batches: Batches<Tx>;
  readonly #internals: Internals;

  /** @throws OptionsInvalidError, ConfigError */
  constructor(options: HoldfastOptions<Tx>) {
    this.#internals = makeInternals(options);
    keepInternals(this, this.#internals);
    this.queues = new Queues(this.#internals);
    this.schedules = new Schedules(this.#internals);
    this.batches = new Batches<Tx>(this.#internals);
  }

  /** Creates the tables or brings them up to date; safe to call from many processes at once. */
  migrate(): Promise<MigrationReport> {
    return this.#internals.connection.migrate();
  }

  /**
   * Enqueues a job: by its definition, or by the name of its type for producers without that. Resolves after the commit; with `tx`, when the job is part of that transaction. A lost connection is
   * tried again, and makes no second job.
   *
   * @throws PayloadInvalidError that names the path of each issue, PayloadTooLargeError, OptionsInvalidError,
   * TransactionInvalidError, UniqueKeyHeldError: nothing was written then
   */
  enqueue<Job extends JobDefinition | string>(
    job: Job,
    ...args: EnqueueArgs<Job, EnqueueOptions<Tx>>
  ): Promise<EnqueueResult<ResultFor<Job>>>;
  enqueue(
    job: JobDefinition | string,
    payload?: unknown,
    options: EnqueueOptions<Tx> = {},
  ): Promise<EnqueueResult> {
    const { connection, writer } = this.#internals;
    const { limitBytes } = writer;
    return connection.whole(async () => {
      const checked = await checkDraft({ call: 'enqueue', job, payload, options, limitBytes });
      const [result] = await writer.write([checked], { call: 'enqueue', tx: options.tx });
      if (result === undefined) throw new TypeError('One job has one result');
      return result;
    });
  }

  /**
   * Enqueues a job for each payload of a list, an iterator or a stream, in slices; memory does not grow with their number.
   *
   * @throws as `enqueue`; EnqueueIncompleteError when slices before the error were written, which names their jobs
   */
  enqueueMany<Job extends JobDefinition | string>(
    job: Job,
    payloads: Iterable<PayloadOf<Job>> | AsyncIterable<PayloadOf<Job>>,
    options?: EnqueueManyOptions<PayloadOf<Job>, Tx>,
  ): Promise<EnqueueManyResult<ResultFor<Job>>>;
  enqueueMany(
    job: JobDefinition | string,
    payloads: Iterable<unknown> | AsyncIterable<unknown>,
    options: EnqueueManyOptions<unknown, Tx> = {},
  ): Promise<EnqueueManyResult> {
    const { connection, writer } = this.#internals;
    return connection.whole(() => enqueueMany(writer, { job, payloads, options }));
  }

  /**
   * Puts jobs together that are followed as one: call `then`, `catch`, `finally` and `progress` on what this gives, and
   * `enqueue` at last. Batches, chains and graphs may be members as well, up to 100 levels deep.
   *
   * @throws OptionsInvalidError; HoldfastError `batch_too_deep`, `batch_too_large`
   */
  batch(members: readonly BatchMember[], options: BatchOptions = {}): BatchBuilder<Tx> {
    return this.#build(planBatch(members, options));
  }

  /**
   * Puts jobs into an order: each runs when the one before has completed, and can read its result by `ctx.parents`. When
   * one dies, those behind it are cancelled.
   *
   * @throws OptionsInvalidError
   */
  chain(jobs: readonly JobRequest[], options: BatchOptions = {}): BatchBuilder<Tx> {
    return this.#build(planChain(jobs, options));
  }

  /**
   * Puts jobs together of which each may wait for any others. At most 10 000 jobs.
   *
   * @param build adds the jobs; it is called once, before `graph` returns
   * @throws OptionsInvalidError
   */
  graph(build: (graph: GraphBuilder) => void, options: BatchOptions = {}): BatchBuilder<Tx> {
    return this.#build(planGraph(build, options));
  }

  #build(plan: BatchPlan): BatchBuilder<Tx> {
    return new BatchBuilder(plan, (whole, tx) => writeBatch(this.#internals, whole, tx));
  }

  /**
   * Reads a job, ended ones too. Its result has the type that the definition promises when the id is one that `enqueue` gave.
   *
   * @throws JobNotFoundError
   */
  get<Result = unknown>(id: JobId<Result>): Promise<Job<Stored<Result>>>;
  get(id: string): Promise<Job> {
    return readJobOf(this.#internals, id);
  }

  /**
   * Lists jobs by filter, ended ones too, the newest first and a page at a time; without payloads and results.
   *
   * @throws OptionsInvalidError; HoldfastError `query_too_slow` when the filter leaves too much to look at
   */
  list(options: ListJobsOptions = {}): Promise<JobPage> {
    return listJobsOf(this.#internals, options);
  }

  /**
   * Reads every run of a job with its error and its times, oldest first, the open one too.
   *
   * @throws JobNotFoundError, OptionsInvalidError
   * @since 0.1.0
   */
  executions(id: string): Promise<readonly Execution[]> {
    return listExecutionsOf(this.#internals, id);
  }

  /**
   * Reads what the handlers of a job logged by `ctx.log`, oldest first and a page at a time: of all runs, or of one.
   *
   * @throws JobNotFoundError, OptionsInvalidError
   * @since 0.1.0
   */
  logs(id: string, options: ListLogsOptions = {}): Promise<LogPage> {
    return listLogsOf(this.#internals, { id, options });
  }

  /**
   * Cancels a job. One that waits ends at once; one that runs has its signal aborted, and ends when its handler does.
   *
   * @throws JobNotFoundError; JobNotInStateError when it has ended
   */
  cancel(id: string, options: CancelOptions = {}): Promise<CancelResult> {
    return cancelJobOf(this.#internals, { id, options });
  }

  /** Tries a job again that rests in `failed`. @throws JobNotFoundError, JobNotInStateError */
  retry(id: string): Promise<void> {
    return actOnJob(this.#internals, { id, action: 'retry' });
  }

  /** Queues a dead letter again, under the same id. @throws JobNotFoundError, JobNotInStateError, UniqueKeyHeldError */
  replay(id: string): Promise<void> {
    return actOnJob(this.#internals, { id, action: 'replay' });
  }

  /** Queues a scheduled job at once. @throws JobNotFoundError, JobNotInStateError */
  runNow(id: string): Promise<void> {
    return actOnJob(this.#internals, { id, action: 'runNow' });
  }

  /**
   * Waits until a job has ended, in whatever way, and answers it. A database that is away is waited for as well, until the
   * timeout or the signal; without them for as long as it takes. The result is typed as that of `get`.
   *
   * @throws WaitTimeoutError; JobNotFoundError; HoldfastError `database_refused`
   */
  wait<Result = unknown>(id: JobId<Result>, options?: WaitOptions): Promise<Job<Stored<Result>>>;
  wait(id: string, options: WaitOptions = {}): Promise<Job> {
    return waitForJob(this.#internals, id, options);
  }

  /**
   * Listens to what this process does: the calls of this instance and the jobs of its workers.
   *
   * @returns a function that ends the listening
   * @throws OptionsInvalidError
   */
  on<Event extends HoldfastEvent>(event: Event, listener: HoldfastListener<Event>): () => void {
    return this.#internals.events.on(event, listener);
  }

  /**
   * Emits an event of the application. The jobs of its listeners are enqueued with it, in one transaction; where nobody
   * subscribed, nothing is written.
   *
   * @throws OptionsInvalidError, PayloadInvalidError, PayloadTooLargeError, TransactionInvalidError; HoldfastError
   * `event_reserved` for the name of an event that Holdfast announces by itself
   */
  emit<Event extends EventName>(
    event: Event,
    ...[data, options = {}]: DataAndOptions<Event, EmitOptions<Tx>>
  ): Promise<EmitResult> {
    return emitEvent(this.#internals, { event, data, options });
  }

  /**
   * Subscribes to an event of the application, or of Holdfast's own: each makes a job, whose payload is the event. Without
   * a job the event is only written, for those who read events. One job type has one subscription of an event; calling
   * again replaces its options.
   *
   * @throws OptionsInvalidError
   */
  // eslint-disable-next-line @typescript-eslint/no-redundant-type-constituents -- EventName is any string only until `Register` names the events
  subscribe<Event extends EventName | LifeCycleEvent, Input>(
    event: Event,
    job?: string | (JobDefinition<string, Input> & TakesEvent<Event, Input>),
    options: ListenerOptions = {},
  ): Promise<EventSubscription> {
    return subscribeToEvent(this.#internals, { event, job, options });
  }

  /** Ends a subscription by its id; answers whether there was one. Jobs that it has made stay. */
  unsubscribe(id: string): Promise<boolean> {
    return endSubscription(this.#internals, id);
  }

  /**
   * Reads events that somebody subscribed to, in their order. Go on with `after: page.nextAfter`: nothing is ever put
   * before an event that was read. Events are kept for a week.
   *
   * @throws OptionsInvalidError
   */
  readEvents(options: ReadEventsOptions = {}): Promise<EventPage> {
    return readEvents(this.#internals, options);
  }

  /** Adds a middleware around every enqueue; the first one is the outermost. @throws OptionsInvalidError */
  use(middleware: EnqueueMiddleware): this {
    requireFunction('use', 'middleware', middleware);
    this.#internals.writer.use(middleware);
    return this;
  }

  /**
   * Stops the workers of this instance, waits for the calls that are under way and closes the connections; safe to call
   * twice.
   */
  close(): Promise<void> {
    return this.#internals.connection.close();
  }

  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function makeInternals<Tx>(options: HoldfastOptions<Tx>): Internals {
  const check = new OptionCheck('new Holdfast');
  check.names(options, optionNames);
  check.done();
  const limitBytes =
    check.whole('maxPayloadBytes', options.maxPayloadBytes, {
      min: 1,
      max: jobLimits.hardPayloadBytes,
    }) ?? jobLimits.payloadBytes;
  const poolSize = check.whole('poolSize', options.poolSize, { min: 1, max: 1_000 });
  check.done();
  const { project = 'default', schema = 'holdfast', pooled, logger = silentLogger } = options;
  const settings = { ...connectionOf(options), schema, pooled, poolSize };
  const connection = new Connection({ settings, project, logger });
  const events = new EventHub(logger);
  const adapter: TransactionAdapter<unknown> = options.adapter ?? pgTransactionAdapter;
  const writer = new JobWriter({ connection, events, adapter, limitBytes });
  const hasOwnAdapter = options.adapter !== undefined;
  return { connection, events, writer, adapter, hasOwnAdapter, project };
}
