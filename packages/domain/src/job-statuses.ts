/**
 * Every status that a job can have. The database has the same list as the enum `holdfast.job_status`.
 *
 * - `queued`: due and in line; a worker may claim it.
 * - `scheduled`: waits for `run_at`, for a retry's backoff, or for its parents.
 * - `claimed`: a worker holds its lease; the handler has not been reported as started.
 * - `running`: the handler runs under the lease.
 * - `completed`: the handler succeeded. Ended for good.
 * - `failed`: an attempt failed and the retry policy is `manual`: a person decides.
 * - `dead_letter`: attempts are used up, the error forbids a retry, or the job killed its worker too often.
 * - `cancelled`: a person or a rule ended it. Ended for good.
 */
export const jobStatuses = [
  'queued',
  'scheduled',
  'claimed',
  'running',
  'completed',
  'failed',
  'dead_letter',
  'cancelled',
] as const;

/** One of the eight statuses of a job. */
export type JobStatus = (typeof jobStatuses)[number];

/** The statuses under which a worker holds a lease on the job. */
export const leasedStatuses = ['claimed', 'running'] as const satisfies readonly JobStatus[];

/** The statuses in which a job has ended; only a replay (dead letters) or a person (failed) moves it on. */
export const endedStatuses = [
  'completed',
  'failed',
  'dead_letter',
  'cancelled',
] as const satisfies readonly JobStatus[];

/** Whether the job has ended, for good or until a person acts. */
export function isEnded(status: JobStatus): boolean {
  return (endedStatuses as readonly JobStatus[]).includes(status);
}

/**
 * How one execution (one claim of a job) stands.
 *
 * `running` is an open execution, or, when `lease_lost_at` is set, one whose worker vanished. `returned` was given
 * back without charge (drain, or never started); `released` asked to run later without charge.
 */
export const executionStatuses = [
  'running',
  'completed',
  'failed',
  'timed_out',
  'cancelled',
  'returned',
  'released',
] as const;

/** One of the statuses of an execution. */
export type ExecutionStatus = (typeof executionStatuses)[number];
