import type {
  AttemptError,
  RetryMode,
  UniqueConflictMode,
  UniqueScope,
  UniqueUntil,
} from '@holdfast/domain';
import type { RegisteredTransaction } from './register.ts';

/** Milliseconds, or text such as `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"7d"` or `"PT5M"`; at most ten years. */
export type Duration = number | string;

/**
 * How long a job waits between attempts; never longer than a day. A duration is the same each time; of a list the n-th
 * follows the n-th attempt, and the last one repeats. Default: exponential, from 5 s to 1 h, with full jitter.
 */
export type Backoff =
  | Duration
  | readonly Duration[]
  | {
      readonly kind: 'exponential';
      /** The wait after the first attempt; default 5 s. */
      readonly base?: Duration | undefined;
      /** 1 to 10; default 2. */
      readonly factor?: number | undefined;
      /** Default 1 h. */
      readonly max?: Duration | undefined;
      /**
       * `full` (the default): a random part of the wait, so that jobs which failed together do not return together; but a
       * second, or a fifth of the wait, at least.
       */
      readonly jitter?: 'full' | 'none' | undefined;
    }
  | { readonly kind: 'list'; readonly delays: readonly Duration[] }
  | { readonly kind: 'fixed'; readonly delay: Duration };

/**
 * Says how long to wait after a failed attempt; runs in the worker, so it belongs to a definition. What is no duration
 * counts as a day.
 */
export type BackoffFunction = (failure: {
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly error: AttemptError;
}) => Duration;

/** How often a job is tried, who moves it on after a failure, and until when. The names are those of the HTTP API. */
export interface RetryOptions {
  /** 1 to 100; default 5. */
  readonly maxAttempts?: number | undefined;
  /** `automatic` (default): the backoff moves a failed job on. `manual`: it rests in `failed` until a person decides. */
  readonly retry?: RetryMode | undefined;
  /** No retry begins after it: an instant, or a time from the job's creation on. */
  readonly retryUntil?: Date | Duration | undefined;
  /** How often the handler may throw, 1 to 100; timeouts do not count, `maxAttempts` holds besides. */
  readonly maxExceptions?: number | undefined;
}

/** A key that one job at a time may hold. */
export interface Unique {
  /** 1 to 512 bytes. */
  readonly key: string;
  /** Within what the key is unique: the type (default), the queue, or the whole project. */
  readonly scope?: UniqueScope | undefined;
  /** How long it is held: until the job has started, has ended (default), or for `ttl`. With `debounce`: `start`. */
  readonly until?: UniqueUntil | undefined;
  /** With `until: 'ttl'`: how long, from the enqueue on. */
  readonly ttl?: Duration | undefined;
  /**
   * What happens to a job whose key is held:
   * - `keep` (default): nothing is enqueued; the answer names the holder.
   * - `replace`: a holder that has not started gets this payload, priority, tags and metadata.
   * - `debounce`: like `replace`, and the holder waits for `wait` again, at most `maxWait` from the first call on.
   * - `queue_latest`: one job may wait behind a holder that has started; the newest payload wins.
   * - `reject`: `UniqueKeyHeldError`.
   */
  readonly onConflict?: UniqueConflictMode | undefined;
  /** With `debounce`: how long the job waits after the newest call. */
  readonly wait?: Duration | undefined;
  /** With `debounce`: how long it waits at most after the first call. */
  readonly maxWait?: Duration | undefined;
}

/** What may be said of a job beside its payload. What is not said comes from the definition, then from the queue. */
export interface JobOptions extends RetryOptions {
  /** A UUID in lower case; a second job with the same id is not made. */
  readonly id?: string | undefined;
  readonly queue?: string | undefined;
  /** Not before this time has passed. */
  readonly delay?: Duration | undefined;
  /** Not before this instant; not together with `delay`. */
  readonly runAt?: Date | undefined;
  /** 0 (first) to 9 (last); default 5. */
  readonly priority?: number | undefined;
  /** At most 20 words to find the job by. */
  readonly tags?: readonly string[] | undefined;
  /** An object of at most 8 kB of JSON, for people and middleware. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** How long one attempt may run, from its start; at most a day, default 5 min. */
  readonly timeout?: Duration | undefined;
  readonly backoff?: Backoff | undefined;
  readonly unique?: Unique | undefined;
  /**
   * Which version of its shape the payload has, 1 (default) to 32 767; for a job that is named by its type, since a
   * definition says its own.
   */
  readonly payloadVersion?: number | undefined;
  /** Cancelled when no worker has claimed it by then: an instant, or a time from the enqueue on. */
  readonly startDeadline?: Date | Duration | undefined;
}

/** Options of an enqueue. */
export interface EnqueueOptions<Tx = RegisteredTransaction> extends JobOptions {
  /**
   * The caller's open transaction: the job is there if and when it commits. Workers are not woken then, and find the job
   * within half a second.
   */
  readonly tx?: Tx | undefined;
}

/** Options of an enqueue of many jobs; what is said here holds for each of them. */
export interface EnqueueManyOptions<Input, Tx = RegisteredTransaction> extends Omit<
  EnqueueOptions<Tx>,
  'id'
> {
  /** Options of one job, which win over those of all. */
  readonly each?: ((payload: Input, index: number) => JobOptions) | undefined;
  /** Jobs for each statement; default 1 000. */
  readonly sliceSize?: number | undefined;
}
