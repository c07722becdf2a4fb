export {
  HoldfastError,
  ConfigError,
  CronInvalidError,
  JobNotFoundError,
  JobNotInStateError,
  LeaseLostError,
  NonRetryableError,
  OptionsInvalidError,
  PayloadInvalidError,
  PayloadTooLargeError,
  RetryableError,
  TimezoneInvalidError,
  TransactionInvalidError,
  UniqueKeyHeldError,
  UnknownJobTypeError,
  WaitTimeoutError,
} from '@holdfast/domain';
export type { EventPage, MigrationReport, StoredEvent } from '@holdfast/database';
export type {
  AttemptError,
  BackoffPolicy,
  BatchCounts,
  BatchKind,
  BatchStatus,
  CallbackRole,
  CatchUp,
  ErrorCode,
  ExecutionStatus,
  FireOutcome,
  JobStatus,
  LifeCycleEvent,
  OnParentFailure,
  Overlap,
  PayloadIssue,
  RetryMode,
  RetryPolicy,
  UniqueConflict,
  UniqueConflictMode,
  UniqueScope,
  UniqueUntil,
} from '@holdfast/domain';
// `JobHandler` is that of a module which the worker process loads.
export type { JobHandler, JobInfo, Release, Stored } from '@holdfast/worker';
export { BatchBuilder } from './batches/batch-builder.ts';
export type { ProgressOptions } from './batches/batch-builder.ts';
export type { BatchCallbackInfo, BatchInfo } from './batches/batch-info.ts';
export type { BatchEnqueueResult, BatchMember, BatchOptions } from './batches/batch-plan.ts';
export type { Batches } from './batches/batches.ts';
export type { GraphBuilder, GraphNode, GraphNodeOptions } from './batches/graph-builder.ts';
export type { JobBatch } from './batches/job-batch.ts';
export type { BatchPage, ListBatchesOptions } from './batches/list-batches.ts';
export type { JobParents, ParentJob } from './batches/job-parents.ts';
export { defineJob } from './define-job.ts';
export { EnqueueIncompleteError } from './enqueue-many.ts';
export type { ConnectionOptions, PoolLike } from './connection-options.ts';
export type * from './enqueue-result.ts';
export type {
  EmitOptions,
  EmitResult,
  EventSubscription,
  ListenerOptions,
  ReadEventsOptions,
} from './event-calls.ts';
export type * from './event-map.ts';
export type * from './event-types.ts';
export type { Execution, ListLogsOptions, LogLine, LogPage } from './executions.ts';
export { Holdfast } from './holdfast.ts';
export type { HoldfastOptions } from './holdfast.ts';
export type { HoldfastProducer } from './holdfast-producer.ts';
export type { CancelOptions, CancelResult } from './job-calls.ts';
export type * from './job-context.ts';
export type * from './job-definition.ts';
export type { JobDraft } from './job-draft.ts';
export type * from './job-options.ts';
export type { JobTemplateInfo } from './job-template.ts';
export type { Job, JobSummary, JobUnique } from './job.ts';
export type { JobPage, ListJobsOptions } from './list-jobs.ts';
export type { HoldfastLogger } from './logger.ts';
export type { PayloadUpgrade, PayloadUpgrades, VersionBefore } from './payload-versions.ts';
export type { PgTransaction } from './pg-transaction.ts';
export type {
  DrainProgress,
  PauseOptions,
  PurgeResult,
  Queue,
  QueueOptions,
  Queues,
} from './queues.ts';
export type { Register, RegisteredEvents, RegisteredTransaction } from './register.ts';
export type { JobRunCall, RunMiddleware } from './run-middleware.ts';
export type { ScheduleInfo } from './schedule-info.ts';
export type { ScheduleInput } from './schedule-settings.ts';
export type { Schedules } from './schedules.ts';
export type * from './standard-schema.ts';
export type * from './transaction-adapter.ts';
export type { WaitOptions } from './wait-for-job.ts';
export { createWorker } from './worker.ts';
export type { Worker } from './worker.ts';
export type { RetentionOptions, WorkerOptions } from './worker-options.ts';
