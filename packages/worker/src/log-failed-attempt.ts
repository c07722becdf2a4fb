import type { Decision } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import type { EndedAttempt } from './worker-observer.ts';

const failures: readonly Decision['transition'][] = ['retry_jobs', 'fail_jobs', 'dead_letter_jobs'];

/** Whether attempts that end in this way are logged. */
export function isFailure(transition: Decision['transition']): boolean {
  return failures.includes(transition);
}

/**
 * Logs an attempt that failed or ran too long: as a warning when the job is tried again, as an error when it is not.
 * Ends of any other kind say nothing.
 */
export function logFailedAttempt(logger: Logger, end: EndedAttempt): void {
  switch (end.decision.transition) {
    case 'retry_jobs':
      logger.warn(fieldsOf(end), 'attempt failed, the job is tried again');
      return;
    case 'fail_jobs':
      logger.error(fieldsOf(end), 'attempt failed, the job waits for a person');
      return;
    case 'dead_letter_jobs':
      logger.error(fieldsOf(end), 'attempt failed, the job is a dead letter');
      return;
    default:
  }
}

function fieldsOf({ decision, ...end }: EndedAttempt) {
  const { jobId, type, queue, attempt, durationMs } = end;
  const { error, reason, delayMs } = decision;
  return {
    ...{ jobId, type, queue, attempt, durationMs, reason },
    ...(delayMs === undefined ? {} : { delayMs }),
    // The stack is stored with the execution, and too long for a line.
    error: error && { code: error.code, message: error.message },
  };
}
