import { cancelJob, readJob, replayJob, retryJob, runJobNow } from '@holdfast/database';
import type { Database, JobActionResult, JobKey, ReplayResult } from '@holdfast/database';
import {
  JobNotFoundError,
  JobNotInStateError,
  OptionsInvalidError,
  UniqueKeyHeldError,
  isUuid,
} from '@holdfast/domain';
import type { HoldfastError, JobStatus } from '@holdfast/domain';
import { OptionCheck } from './check-options.ts';
import type { OpenConnection } from './connection.ts';
import type { Internals } from './internals.ts';
import { toJob } from './job.ts';
import type { Job } from './job.ts';

/** How a job is cancelled. */
export interface CancelOptions {
  /** Shown to people beside the job. */
  readonly reason?: string | undefined;
}

/** What a cancel came to: `cancelled` at once, or `requested` of the worker that runs the job. */
export interface CancelResult {
  readonly outcome: 'cancelled' | 'requested';
}

/**
 * Reads one job.
 *
 * @throws JobNotFoundError
 */
export async function readJobOf({ connection }: Internals, id: string): Promise<Job> {
  requireId('get', id);
  return connection.useWithRetry(async ({ database, projectId }) => {
    const row = await readJob(database, { projectId, id });
    if (row === undefined) throw new JobNotFoundError(id);
    return toJob(row);
  });
}

/**
 * Cancels one job.
 *
 * @throws JobNotFoundError; JobNotInStateError when it has ended; OptionsInvalidError
 */
export async function cancelJobOf(
  { connection, events }: Internals,
  request: { readonly id: string; readonly options: CancelOptions },
): Promise<CancelResult> {
  const { id, options } = request;
  requireId('cancel', id);
  const check = new OptionCheck('cancel');
  if (!check.names(options, ['reason'])) check.done();
  const reason = check.words('reason', options.reason);
  check.done();
  // The row may be locked for a while, by a handler that makes sure of its lease.
  return connection.useWithRetry(async (open, mayRepeat) => {
    const { database, projectId, notifier, settler } = open;
    const result = await cancelJob(database, { projectId, id, reason: reason ?? 'cancelled' });
    // By an earlier try of this call, whose answer was lost.
    const wasCancelled = mayRepeat && 'status' in result && result.status === 'cancelled';
    if (result.cancelled || wasCancelled) {
      settler.kick();
      events.emit('JobCancelled', { jobId: id, reason });
      return { outcome: 'cancelled' };
    }
    if ('requestedOf' in result) {
      notifier.wakeWorker(result.requestedOf);
      return { outcome: 'requested' };
    }
    throw refusalOf(id, result);
  });
}

/** What can be done with a job by hand, each by its statement. */
export const jobActions = {
  retry: retryJob,
  replay: replayJob,
  runNow: runJobNow,
} as const satisfies Record<
  string,
  (db: Database, key: JobKey) => Promise<JobActionResult | ReplayResult>
>;

/**
 * Puts one job back into the line.
 *
 * @throws JobNotFoundError; JobNotInStateError when its status does not allow that; UniqueKeyHeldError of a replay
 */
export async function actOnJob(
  { connection }: Internals,
  request: { readonly id: string; readonly action: keyof typeof jobActions },
): Promise<void> {
  const { id, action } = request;
  requireId(action, id);
  return connection.useOnce(async (open: OpenConnection) => {
    const result = await jobActions[action](open.database, { projectId: open.projectId, id });
    if (!result.done) throw refusalOf(id, result);
    open.notifier.wakeQueues([result.queueId]);
  });
}

type Refusal =
  | { readonly reason: 'not_found' }
  | { readonly reason: 'not_in_state'; readonly status: JobStatus }
  | { readonly reason: 'unique_key_held'; readonly holderId: string };

function refusalOf(id: string, result: Refusal): HoldfastError {
  switch (result.reason) {
    case 'not_found':
      return new JobNotFoundError(id);
    case 'not_in_state':
      return new JobNotInStateError(id, result.status);
    case 'unique_key_held':
      return new UniqueKeyHeldError(undefined, result.holderId);
  }
}

/** Callers in plain JavaScript hand in what they have. @throws OptionsInvalidError */
export function requireId(call: string, id: unknown): void {
  if (typeof id === 'string' && isUuid(id)) return;
  throw new OptionsInvalidError(call, ['the id of a job is a UUID in lower case']);
}
