import type { Decision } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import type { PendingFinish } from './finish-writer.ts';
import { isFailure, logFailedAttempt } from './log-failed-attempt.ts';
import type { EndedAttempt, WorkerObserver } from './worker-observer.ts';

/** Who is told. */
interface Audience {
  /** The one that all the ends have in common. */
  readonly transition: Decision['transition'];
  readonly observer?: WorkerObserver | undefined;
  readonly logger: Logger;
}

/** Logs the attempts that failed, and tells the observer of all. Ends that nobody wants to hear of cost nothing. */
export function announceEnds(finishes: readonly PendingFinish[], audience: Audience): void {
  const { transition, logger } = audience;
  const observer = audience.observer?.isListening() === true ? audience.observer : undefined;
  if (observer === undefined && !isFailure(transition)) return;
  for (const finish of finishes) {
    const end = endedAttempt(finish);
    logFailedAttempt(logger, end);
    observer?.onEnded(end);
  }
}

function endedAttempt({ job, decision }: PendingFinish): EndedAttempt {
  const { id, type, attempt, executionSeq } = job.claimed;
  const hasStarted = job.startedAtMs > 0 && job.finishedAtMs > 0;
  const durationMs = hasStarted ? job.finishedAtMs - job.startedAtMs : 0;
  return { jobId: id, type, queue: job.queueName, attempt, executionSeq, durationMs, decision };
}
