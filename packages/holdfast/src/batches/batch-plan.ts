import type { BatchKind, CallbackRole, OnParentFailure } from '@holdfast/domain';
import type { JobRequest } from '../job-definition.ts';
import type { BatchBuilder } from './batch-builder.ts';
import type { BatchSize } from './require-batch-size.ts';

/** What may be said of a batch, chain or graph. */
export interface BatchOptions {
  /** A UUID in lower case; the same batch is not made again, and another one with this id is refused. */
  readonly id?: string | undefined;
  /** 1 to 200 characters, for people. */
  readonly name?: string | undefined;
  /** Jobs that died or were cancelled do not keep `then` from coming. Default false. */
  readonly allowFailures?: boolean | undefined;
}

/** A member of a batch: a job, or a batch, chain or graph that is not enqueued by itself. */
// Members of any transaction type; they take no transaction of their own.
export type BatchMember = JobRequest | BatchBuilder<never>;

/** A job that a batch makes when its moment comes. */
export interface PlannedCallback {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it. */
  readonly percent: number | undefined;
  readonly request: JobRequest;
}

/** One job waits for another; both by their place among the jobs. */
export interface PlannedEdge {
  readonly parent: number;
  readonly child: number;
  readonly onFailure: OnParentFailure;
}

/** Everything that a builder was told. */
export interface BatchPlan {
  readonly kind: BatchKind;
  readonly options: BatchOptions;
  readonly jobs: readonly JobRequest[];
  /** Inner batches. */
  readonly batches: readonly BatchPlan[];
  /** How many levels of batches it has, itself counted. */
  readonly depth: number;
  /** What is in it, on all levels, without its own callbacks. */
  readonly size: BatchSize;
  readonly edges: readonly PlannedEdge[];
  readonly callbacks: readonly PlannedCallback[];
}

/** What an enqueue of a batch, chain or graph came to. */
export interface BatchEnqueueResult {
  readonly id: string;
  /** The ids of its jobs, in the order in which they were given; those of inner batches are in `batches`. */
  readonly jobIds: readonly string[];
  /** The inner batches, in the order in which they were given. */
  readonly batches: readonly BatchEnqueueResult[];
}
