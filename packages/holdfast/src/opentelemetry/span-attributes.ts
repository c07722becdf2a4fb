/**
 * The names of the semantic conventions for messaging that spans get, as of version 1.45.0, in which they were still in
 * development: https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
export const messaging = {
  system: 'messaging.system.name',
  /** What `system` was called until 1.44; many backends know no other name. */
  oldSystem: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  messageId: 'messaging.message.id',
  batchCount: 'messaging.batch.message_count',
  errorType: 'error.type',
} as const;

/** Attributes that the conventions have no name for. */
export const own = {
  type: 'holdfast.job.type',
  /** 1 for the first. */
  attempt: 'holdfast.job.attempt',
  maxAttempts: 'holdfast.job.max_attempts',
  executionSeq: 'holdfast.job.execution_seq',
  /** True: no job was made, since another one has the unique key or the id. */
  deduplicated: 'holdfast.job.deduplicated',
  /** The batch, chain or graph. */
  batch: 'holdfast.batch.id',
  /** A status of executions, as far as the handler decides it. */
  outcome: 'holdfast.execution.outcome',
} as const;

/** The scope of all spans. */
export const tracerName = 'holdfast';

/** After what a span is named, behind its operation. */
export const spanNamings = ['queue', 'type'] as const;

/** After what a span is named, behind its operation: one of the two that are few. */
export type SpanNaming = (typeof spanNamings)[number];

/** The attributes of every span of an operation. */
export function operationAttributes(operation: 'send' | 'process') {
  return {
    [messaging.system]: 'holdfast',
    [messaging.oldSystem]: 'holdfast',
    [messaging.operationName]: operation,
    [messaging.operationType]: operation,
  };
}
