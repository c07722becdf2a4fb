import { jobLimits, uuidV7 } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { BatchBuilder } from '../batches/batch-builder.ts';
import type {
  BatchEnqueueResult,
  BatchMember,
  BatchOptions,
  BatchPlan,
} from '../batches/batch-plan.ts';
import { planGraph } from '../batches/graph-builder.ts';
import type { GraphBuilder } from '../batches/graph-builder.ts';
import { planBatch, planChain } from '../batches/plan-batch.ts';
import { prepareBatch, toResult } from '../batches/prepare-batch.ts';
import { enqueueMany } from '../enqueue-many.ts';
import type { EnqueueManyResult, EnqueueResult } from '../enqueue-result.ts';
import { checkEmit } from '../event-calls.ts';
import type { EmitOptions, EmitResult } from '../event-calls.ts';
import type { DataAndOptions, EventName } from '../event-types.ts';
import type { HoldfastProducer } from '../holdfast-producer.ts';
import type {
  EnqueueArgs,
  JobDefinition,
  JobRequest,
  PayloadOf,
  ResultFor,
} from '../job-definition.ts';
import { checkDraft } from '../job-draft.ts';
import type { EnqueueManyOptions, EnqueueOptions } from '../job-options.ts';
import type { RegisteredTransaction } from '../register.ts';
import { EnqueueExpectations } from './enqueue-expectations.ts';
import type { EnqueuedJob } from './enqueued-job.ts';
import { FakeJobs } from './fake-jobs.ts';
import type { FakeBatch, FakeJob } from './fake-jobs.ts';

/** An event that was emitted. */
export interface EmittedEvent {
  readonly event: string;
  /** As it would be stored. */
  readonly data: unknown;
  /** The transaction that was given. */
  readonly tx: unknown;
}

/**
 * Stands in for a `Holdfast` where only jobs and events are made, without a database: checks everything as the real one
 * does, keeps it, and runs nothing. Made by `createFakeHoldfast`.
 *
 * @typeParam Tx the transaction of the application's database library
 */
export class FakeHoldfast<Tx = RegisteredTransaction>
  extends EnqueueExpectations
  implements HoldfastProducer<Tx>
{
  readonly #limitBytes: number;
  #jobs = new FakeJobs();
  #events: EmittedEvent[] = [];

  constructor(limitBytes: number = jobLimits.payloadBytes) {
    super();
    this.#limitBytes = limitBytes;
  }

  /** The jobs so far, in their order; callbacks of batches are not among them. */
  get jobs(): readonly FakeJob[] {
    return this.#jobs.jobs;
  }

  /** The batches, chains and graphs so far. */
  get batches(): readonly FakeBatch[] {
    return this.#jobs.batches;
  }

  /** The events so far. */
  get events(): readonly EmittedEvent[] {
    return this.#events;
  }

  /** Forgets everything. */
  clear(): void {
    this.#jobs = new FakeJobs();
    this.#events = [];
  }

  /** As that of `Holdfast`, save that there is no transaction to take part in. */
  enqueue<Job extends JobDefinition | string>(
    job: Job,
    ...args: EnqueueArgs<Job, EnqueueOptions<Tx>>
  ): Promise<EnqueueResult<ResultFor<Job>>>;
  async enqueue(
    job: JobDefinition | string,
    payload?: unknown,
    options: EnqueueOptions<Tx> = {},
  ): Promise<EnqueueResult> {
    const limitBytes = this.#limitBytes;
    const draft = await checkDraft({ call: 'enqueue', job, payload, options, limitBytes });
    return this.#jobs.add(draft, options.tx);
  }

  /** As that of `Holdfast`. */
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
    const jobs = this.#jobs;
    const writer = {
      limitBytes: this.#limitBytes,
      write: (drafts: Parameters<FakeJobs['addAll']>[0], { tx }: { readonly tx?: unknown }) =>
        Promise.resolve(jobs.addAll(drafts, tx)),
    };
    return enqueueMany(writer, { job, payloads, options });
  }

  /** As that of `Holdfast`. */
  batch(members: readonly BatchMember[], options: BatchOptions = {}): BatchBuilder<Tx> {
    return this.#build(planBatch(members, options));
  }

  /** As that of `Holdfast`. */
  chain(jobs: readonly JobRequest[], options: BatchOptions = {}): BatchBuilder<Tx> {
    return this.#build(planChain(jobs, options));
  }

  /** As that of `Holdfast`. */
  graph(build: (graph: GraphBuilder) => void, options: BatchOptions = {}): BatchBuilder<Tx> {
    return this.#build(planGraph(build, options));
  }

  /** As that of `Holdfast` where nobody has subscribed. */
  // eslint-disable-next-line @typescript-eslint/require-await -- what is wrong is a rejection, as with the real one
  async emit<Event extends EventName>(
    event: Event,
    ...[data, options = {}]: DataAndOptions<Event, EmitOptions<Tx>>
  ): Promise<EmitResult> {
    const dataJson = checkEmit({ event, data, options }, this.#limitBytes);
    this.#events.push({ event, data: JSON.parse(dataJson), tx: options.tx });
    return { id: undefined, jobIds: [] };
  }

  protected override listEnqueued(): Promise<readonly EnqueuedJob[]> {
    return Promise.resolve(this.jobs);
  }

  #build(plan: BatchPlan): BatchBuilder<Tx> {
    return new BatchBuilder(plan, (whole, tx) => this.#addBatch(whole, tx));
  }

  async #addBatch(plan: BatchPlan, tx: unknown): Promise<BatchEnqueueResult> {
    const id = plan.options.id ?? uuidV7(systemClock.nowMs());
    const limitBytes = this.#limitBytes;
    const prepared = await prepareBatch(plan, id, { call: plan.kind, limitBytes });
    this.#jobs.addBatch(prepared, tx);
    return toResult(prepared);
  }
}

/** How a fake is made. */
export interface FakeHoldfastOptions {
  /** How many bytes of JSON a payload may have; default as that of `Holdfast`. */
  readonly maxPayloadBytes?: number | undefined;
}

/**
 * Makes a stand-in for the part of a `Holdfast` that makes jobs and events, for tests without a database.
 *
 * @since 0.1.0
 */
export function createFakeHoldfast<Tx = RegisteredTransaction>(
  options: FakeHoldfastOptions = {},
): FakeHoldfast<Tx> {
  return new FakeHoldfast(options.maxPayloadBytes);
}
