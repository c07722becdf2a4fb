import type { JobStatus, UniqueConflict } from '@holdfast/domain';
import type { JobDraft } from './job-draft.ts';

/** What an enqueue came to. */
export interface EnqueueResult {
  readonly id: string;
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
export interface EnqueueManyResult {
  /** In the order of the payloads; for a deduplicated one, the id of the job that was there. */
  readonly ids: readonly string[];
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
