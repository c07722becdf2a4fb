import type { JobStatus, UniqueConflict } from '@holdfast/domain';
import type { JobDraft } from './job-draft.ts';

/**
 * The id of a job, which to the compiler carries the type of the job's result, so that `wait` and `get` know it. Any text
 * is one too, of whose result nothing is known.
 */
export type JobId<Result = unknown> = string & {
  /** Only for the compiler; never set. */
  readonly '~result'?: Result;
};

/** What an enqueue came to. */
export interface EnqueueResult<Result = unknown> {
  /**
   * The compiler takes it for a job of this call's definition, which it is unless the unique key has a wider scope than
   * `type` and another type's job holds it.
   */
  readonly id: JobId<Result>;
  /** `queued` when it is due now, `scheduled` when it is for later; of another job: whatever it is. */
  readonly status: JobStatus;
  /** True when no job was made, because another one has the unique key or the id: `id` is that one's. */
  readonly deduplicated: boolean;
  /**
   * What happened because the unique key was held: the holder was `kept` as it is, has the payload of this call now
   * (`replaced`), waits anew besides (`debounced`), or this job waits for the holder's end (`queued_behind`).
   */
  readonly conflict?: UniqueConflict;
  /** The job that holds the unique key, where it is another one. */
  readonly holderId?: string;
}

/** What an enqueue of many came to. */
export interface EnqueueManyResult<Result = unknown> {
  /** In the order of the payloads; for a deduplicated one, the id of the job that was there. */
  readonly ids: readonly JobId<Result>[];
}

/**
 * Wraps every enqueue of a `Holdfast`: gets the jobs of one insert, gives them on by `next`, changed or not, and answers
 * a result for each, in their order, which is what `next` gives. To refuse them, it throws. What answers otherwise, or gives
 * `next` fewer jobs, makes the call fail with `middleware_invalid`.
 */
export type EnqueueMiddleware = (
  jobs: readonly JobDraft[],
  next: (jobs: readonly JobDraft[]) => Promise<readonly EnqueueResult[]>,
) => Promise<readonly EnqueueResult[]>;
