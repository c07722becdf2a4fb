import { assertNever } from '@holdfast/domain';
import type { AttemptError } from '@holdfast/domain';
import type { EndedAttempt } from '@holdfast/worker';
import type { EndedAttemptEvent, HoldfastEvent } from './event-map.ts';
import type { EventHub } from './event-hub.ts';

/** The events that an end may be. */
export const endEvents = [
  'JobProcessed',
  'JobReleased',
  'JobCancelled',
  'JobExceptionOccurred',
  'JobTimedOut',
  'JobFailed',
] as const satisfies readonly HoldfastEvent[];

/** Tells the listeners of an end that is stored. */
export function announceEnd(events: EventHub, workerId: string, end: EndedAttempt): void {
  const { jobId, type, queue, attempt, executionSeq, durationMs, decision } = end;
  const data = { jobId, type, queue, workerId, attempt, executionSeq, durationMs };
  switch (decision.transition) {
    case 'complete_jobs':
      events.emit('JobProcessed', data);
      return;
    case 'release_jobs': {
      const { delayMs: nextDelayMs = 0, reason } = decision;
      events.emit('JobReleased', { ...data, nextDelayMs, reason });
      return;
    }
    case 'abandon_jobs':
      events.emit('JobCancelled', { jobId, reason: decision.reason });
      return;
    case 'retry_jobs':
    case 'fail_jobs':
    case 'dead_letter_jobs':
      announceFailure(events, data, decision);
      return;
    case 'return_jobs':
      return;
    default:
      assertNever(decision.transition);
  }
}

function announceFailure(
  events: EventHub,
  data: EndedAttemptEvent,
  { transition, executionStatus, error, reason = transition, delayMs }: EndedAttempt['decision'],
): void {
  const nextDelayMs = transition === 'retry_jobs' ? delayMs : undefined;
  if (error !== undefined)
    announceAttempt(events, executionStatus, { ...data, error, nextDelayMs });
  if (transition === 'dead_letter_jobs') events.emit('JobFailed', { ...data, error, reason });
}

function announceAttempt(
  events: EventHub,
  status: EndedAttempt['decision']['executionStatus'],
  data: EndedAttemptEvent & {
    readonly error: AttemptError;
    readonly nextDelayMs: number | undefined;
  },
): void {
  if (status === 'timed_out') events.emit('JobTimedOut', data);
  else events.emit('JobExceptionOccurred', data);
}
