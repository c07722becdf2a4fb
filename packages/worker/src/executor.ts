import { AsyncLocalStorage } from 'node:async_hooks';
import { HoldfastError, LeaseLostError } from '@holdfast/domain';
import type { AttemptOutcome } from '@holdfast/domain';
import { failureOf } from './attempt-failure.ts';
import { Release } from './handler.ts';
import type { JobContext, JobHandler } from './handler.ts';
import { abortJob } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import { isInstanceOf } from './is-instance-of.ts';
import { monotonicMs } from './monotonic.ts';
import { safeJson } from './safe-json.ts';

/** A handler has this long after its timeout's abort before the attempt ends without it. */
export const abortGraceMs = 10_000;

/** Tells which job the running code belongs to, also in timers and rejections that outlive the handler. */
export const currentJob = new AsyncLocalStorage<HeldJob | undefined>();

/** How one attempt ended, and whether its handler still runs in spite of its abort. */
export interface AttemptEnd {
  readonly outcome: AttemptOutcome;
  /** Set when the handler still runs: settles when it ends at last. */
  readonly stuck: Promise<void> | undefined;
  /** The handler was asked to end only now, so that it is not to blame for running yet. */
  readonly isSudden: boolean;
}

/** What an attempt needs, and who hears of its end: once, and never before `runAttempt` has returned. */
export interface AttemptOptions {
  readonly handler: JobHandler;
  readonly context: JobContext;
  readonly onEnd: (job: HeldJob, end: AttemptEnd) => void;
}

/**
 * Runs the handler of a job to its end, its timeout, or whatever else ends the attempt. There is one promise beside the
 * handler's own: while async hooks are on, each costs a worker of short jobs several percent.
 */
export function runAttempt(job: HeldJob, options: AttemptOptions): void {
  let handlerEnded = false;
  const end = (outcome: AttemptOutcome): void => {
    handlerEnded = true;
    job.settle?.(outcome);
  };
  const ended = currentJob.run(job, callHandler, job, options).then(
    (result) => end(outcomeOfResult(job, result)),
    (error: unknown) => end(outcomeOfError(job, error)),
  );
  job.settle = (outcome) => {
    job.settle = undefined;
    clearTimeout(job.timer);
    job.finishedAtMs ||= monotonicMs();
    // What follows is the worker's own work, also when the handler's stray error brought it about.
    currentJob.run(undefined, options.onEnd, job, {
      outcome,
      stuck: handlerEnded ? undefined : ended,
      isSudden: job.abortCause === 'stray_error',
    });
  };
  job.timer = setTimeout(onTimeout, job.claimed.timeoutMs, job);
}

function onTimeout(job: HeldJob): void {
  const error = new HoldfastError(`Ran longer than ${String(job.claimed.timeoutMs)} ms`, {
    code: 'timed_out',
  });
  abortJob(job, 'timeout', error);
  job.timer = setTimeout(() => job.settle?.(outcomeOfError(job, error)), abortGraceMs);
}

function callHandler(job: HeldJob, options: AttemptOptions): Promise<unknown> {
  try {
    const payload: unknown = JSON.parse(job.claimed.payloadJson);
    // A promise passes through as it is.
    return Promise.resolve(options.handler(payload, options.context));
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a handler may throw anything
    return Promise.reject(error);
  }
}

function outcomeOfResult(job: HeldJob, result: unknown): AttemptOutcome {
  try {
    if (isInstanceOf(result, Release)) {
      return { kind: 'released', delayMs: result.delayMs, reason: result.reason };
    }
    return { kind: 'completed', resultJson: safeJson(result).json };
  } catch (error) {
    return outcomeOfError(job, error);
  }
}

/** What a thrown error means, given why the handler was aborted, if it was. */
export function outcomeOfError(job: HeldJob, thrown: unknown): AttemptOutcome {
  const failure = failureOf(thrown, job.claimed.type);
  const { error } = failure;
  switch (job.abortCause) {
    case 'timeout':
      return { kind: 'timed_out', error: { ...error, code: 'timed_out' } };
    case 'cancel':
      return { kind: 'cancelled', error };
    case 'shutdown':
      return { kind: 'returned', reason: 'drain' };
    case 'lease_lost':
      // Not the handler's fault: if the lease holds after all, the attempt is given back.
      return { kind: 'returned', reason: 'lease_lost' };
    case 'stray_error':
    case undefined:
      return failure;
  }
}

/** Aborts a handler whose lease is gone. */
export function abortForLostLease(job: HeldJob): void {
  abortJob(job, 'lease_lost', new LeaseLostError());
}
