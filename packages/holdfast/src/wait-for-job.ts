import { readJob, readJobStatus } from '@holdfast/database';
import { JobNotFoundError, WaitTimeoutError, isEnded } from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { OptionCheck } from './check-options.ts';
import type { OpenConnection } from './connection.ts';
import type { Internals } from './internals.ts';
import { requireId } from './job-calls.ts';
import { toJob } from './job.ts';
import type { Job } from './job.ts';
import type { Duration } from './job-options.ts';
import { pollUntil } from './poll-until.ts';

/** How long to wait for an end. */
export interface WaitOptions {
  /** Holds whatever the database does. Without one, for as long as it takes, also for the database to come back. */
  readonly timeout?: Duration | undefined;
  /** Ends the waiting: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks the options of a wait. @throws OptionsInvalidError */
export function readWaitOptions(call: string, options: WaitOptions) {
  const check = new OptionCheck(call);
  if (!check.names(options, ['timeout', 'signal'])) check.done();
  const timeoutMs = check.duration('timeout', options.timeout) ?? Infinity;
  const { signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    check.refuse('signal must be an AbortSignal');
  }
  check.done();
  return { timeoutMs, signal };
}

/**
 * Waits until a job has ended: completed, failed, dead letter or cancelled. Looks again and again, less often with time,
 * and at once when a worker of this process ends the job. A database that does not answer is waited for as well.
 *
 * @throws WaitTimeoutError; JobNotFoundError; OptionsInvalidError; HoldfastError `database_refused` when the server does not
 * let the program in, `closed`
 */
export async function waitForJob(
  internals: Internals,
  id: string,
  options: WaitOptions,
): Promise<Job> {
  requireId('wait', id);
  const limits = readWaitOptions('wait', options);
  let status: JobStatus | undefined;
  const wakeUp = listenForEnd(internals, id);
  const lookOnce = async ({ database, projectId }: OpenConnection): Promise<Job | undefined> => {
    const key = { projectId, id };
    status = await readJobStatus(database, key);
    if (status !== undefined && !isEnded(status)) return undefined;
    const row = status === undefined ? undefined : await readJob(database, key);
    if (row === undefined) throw new JobNotFoundError(id);
    return toJob(row);
  };
  try {
    return await pollUntil({
      ...limits,
      logger: internals.connection.logger,
      look: (useOptions) => internals.connection.useWithRetry(lookOnce, useOptions),
      sleep: (durationMs, pause) => wakeUp.sleep(durationMs, pause),
      timeoutError: (cause) => new WaitTimeoutError(id, status, { cause }),
    });
  } finally {
    wakeUp.close();
  }
}

/** Sleeps that end early when this process learns of the job's end, also during the look before. */
function listenForEnd({ events }: Internals, id: string) {
  let news = new AbortController();
  const onEnd = ({ jobId }: { readonly jobId: string }): void => {
    if (jobId === id) news.abort();
  };
  const stops = [
    events.on('JobProcessed', onEnd),
    events.on('JobFailed', onEnd),
    events.on('JobCancelled', onEnd),
  ];
  return {
    async sleep(durationMs: number, signal: AbortSignal): Promise<void> {
      await systemClock.sleep(durationMs, AbortSignal.any([news.signal, signal]));
      // One look for each news: a replayed job may run on.
      if (news.signal.aborted) news = new AbortController();
    },
    close(): void {
      for (const stop of stops) stop();
    },
  };
}
