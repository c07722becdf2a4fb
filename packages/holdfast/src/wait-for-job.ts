import { readJobStatus } from '@holdfast/database';
import { JobNotFoundError, WaitTimeoutError, isEnded } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { OptionCheck } from './check-options.ts';
import type { Internals } from './internals.ts';
import { readJobOf, requireId } from './job-calls.ts';
import type { Job } from './job.ts';
import type { Duration } from './job-options.ts';

/** How long to wait for a job's end. */
export interface WaitOptions {
  /** Without one, for as long as it takes. */
  readonly timeout?: Duration | undefined;
  /** Ends the waiting: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

const firstPauseMs = 20;
const longestPauseMs = 250;

/**
 * Waits until a job has ended: completed, failed, dead letter or cancelled. Looks again and again, and at once when a
 * worker of this process ends the job.
 *
 * @throws WaitTimeoutError; JobNotFoundError; OptionsInvalidError
 */
export async function waitForJob(
  internals: Internals,
  id: string,
  options: WaitOptions,
): Promise<Job> {
  requireId('wait', id);
  const check = new OptionCheck('wait');
  check.names(options, ['timeout', 'signal']);
  const timeoutMs = check.duration('timeout', options.timeout) ?? Infinity;
  check.done();
  const startedAtMs = systemClock.monotonicMs();
  const wakeUp = listenForEnd(internals, id);
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const status = await internals.connection.useWithRetry(({ database, projectId }) =>
        readJobStatus(database, { projectId, id }),
      );
      if (status === undefined) throw new JobNotFoundError(id);
      if (isEnded(status)) return await readJobOf(internals, id);
      options.signal?.throwIfAborted();
      const leftMs = timeoutMs - (systemClock.monotonicMs() - startedAtMs);
      if (leftMs <= 0) throw new WaitTimeoutError(id, status);
      await wakeUp.sleep(Math.min(pauseMs, leftMs), options.signal);
    }
  } finally {
    wakeUp.close();
  }
}

/** Sleeps that end early when this process learns of the job's end. */
function listenForEnd({ events }: Internals, id: string) {
  const ended = new AbortController();
  const onEnd = ({ jobId }: { readonly jobId: string }): void => {
    if (jobId === id) ended.abort();
  };
  const stops = [
    events.on('JobProcessed', onEnd),
    events.on('JobFailed', onEnd),
    events.on('JobCancelled', onEnd),
  ];
  return {
    sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
      // Once the news is old, a replayed job may run on.
      const signals = [ended.signal.aborted ? undefined : ended.signal, signal];
      const any = AbortSignal.any(signals.filter((each) => each !== undefined));
      return systemClock.sleep(durationMs, any);
    },
    close(): void {
      for (const stop of stops) stop();
    },
  };
}
