import { HoldfastError } from './errors.ts';
import type { JobStatus } from './job-statuses.ts';

/** Options of a call that do not exist or break a rule; the message lists every one of them. Nothing was written. */
export class OptionsInvalidError extends HoldfastError {
  /** One sentence for each problem. */
  readonly problems: readonly string[];

  constructor(call: string, problems: readonly string[]) {
    super(`${call}: ${problems.join('; ')}`, { code: 'options_invalid' });
    this.problems = problems;
  }
}

/** What was given as transaction is none; nothing was written. */
export class TransactionInvalidError extends HoldfastError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause, code: 'transaction_invalid' });
  }
}

/** No job with this id exists in the project. */
export class JobNotFoundError extends HoldfastError {
  readonly jobId: string;

  constructor(jobId: string) {
    super(`There is no job ${jobId}`, { code: 'job_not_found' });
    this.jobId = jobId;
  }
}

/** The job's status does not allow what was asked. */
export class JobNotInStateError extends HoldfastError {
  readonly jobId: string;
  readonly status: JobStatus;

  constructor(jobId: string, status: JobStatus) {
    super(`The job ${jobId} is ${status}`, { code: 'job_not_in_state' });
    this.jobId = jobId;
    this.status = status;
  }
}

/**
 * The job was not seen to end before the time for waiting was over. It goes on as before. The `cause` is what kept the
 * database from answering, if something did.
 */
export class WaitTimeoutError extends HoldfastError {
  readonly jobId: string;
  /** At the last look; `undefined` when the database has not answered at all. */
  readonly status: JobStatus | undefined;

  constructor(
    jobId: string,
    status: JobStatus | undefined,
    options: { readonly cause?: unknown } = {},
  ) {
    const message = notEndedInTime(`The job ${jobId}`, status);
    super(message, { cause: options.cause, code: 'wait_timed_out' });
    this.jobId = jobId;
    this.status = status;
  }
}

/**
 * Another job holds the unique key: of an enqueue with `onConflict: 'reject'`, or of a job that was to be replayed.
 * Nothing was written.
 */
export class UniqueKeyHeldError extends HoldfastError {
  /** `undefined` for the key of a job that was to be replayed. */
  readonly key: string | undefined;
  /** The job that holds the key. */
  readonly holderId: string;

  constructor(key: string | undefined, holderId: string) {
    const name = key === undefined ? 'The unique key' : `The unique key "${key}"`;
    super(`${name} is held by the job ${holderId}`, { code: 'unique_key_held' });
    this.key = key;
    this.holderId = holderId;
  }
}

/** No handler for the job's type is known here. */
export class UnknownJobTypeError extends HoldfastError {
  readonly type: string;

  constructor(type: string) {
    super(`There is no handler for the job type "${type}"`, { code: 'handler_missing' });
    this.type = type;
  }
}

/** The sentence about a wait that took too long; `status` is that of the last look, if there was one. */
export function notEndedInTime(what: string, status: string | undefined): string {
  const seen =
    status === undefined ? 'the database has not answered' : `it was ${status} at the last look`;
  return `${what} has not ended in time: ${seen}`;
}
