import { inspect } from 'node:util';
import { HoldfastError } from '@holdfast/domain';
import type { AttemptOutcome } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import { toAttemptError } from './attempt-error.ts';
import { currentJob, outcomeOfError } from './executor.ts';
import type { HeldJob } from './held-job.ts';
import { isInstanceOf } from './is-instance-of.ts';

/** What is known of an error that nobody caught. */
export interface StrayError {
  readonly message: string;
  readonly stack: string | undefined;
}

/** Takes the guards down again. */
export type RemoveGuards = () => void;

/**
 * Keeps a handler's mistakes from taking the whole process down: errors thrown in its timers and promises that nobody
 * awaits fail its own attempt, and so does a call of `process.exit()`. Errors of no job end the process as usual: with a
 * report to `onFatal`, or, in somebody else's process, as if the guards were not there.
 */
export function guardProcess(options: {
  readonly logger: Logger;
  /** The process is somebody else's. */
  readonly isGuest: boolean;
  /** Called for an uncaught error that belongs to no job. */
  readonly onFatal: (error: StrayError) => void;
}): RemoveGuards {
  const blame = (error: unknown, event: string): boolean => {
    const job = currentJob.getStore();
    if (job === undefined) return false;
    options.logger.error({ jobId: job.claimed.id, err: describe(error) }, event);
    job.settle?.(outcomeOfStray(job, error));
    return true;
  };
  const exit = process.exit.bind(process);
  const leaveToHost = (error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void => {
    if (process.listenerCount(event) > 1) return;
    process.stderr.write(`Uncaught ${inspect(error)}\n`);
    exit(1);
  };
  const onException = (error: unknown): void => {
    if (blame(error, 'uncaught exception in a handler')) return;
    if (options.isGuest) leaveToHost(error, 'uncaughtException');
    else options.onFatal(describe(error));
  };
  const onRejection = (error: unknown): void => {
    if (blame(error, 'unhandled rejection in a handler')) return;
    if (options.isGuest) leaveToHost(error, 'unhandledRejection');
    else options.logger.error({ err: describe(error) }, 'unhandled rejection');
  };
  const guardedExit = (code?: number | string | null): never => {
    if (currentJob.getStore() === undefined) return exit(code);
    throw new HoldfastError(`The handler called process.exit(${String(code ?? '')})`, {
      code: 'handler_exited',
    });
  };
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  process.exit = guardedExit;
  return () => {
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
    process.exit = exit;
  };
}

/** The attempt's end by an error that was not thrown to its caller. */
function outcomeOfStray(job: HeldJob, error: unknown): AttemptOutcome {
  const outcome = outcomeOfError(job, error);
  if (outcome.kind !== 'failed' || isInstanceOf(error, HoldfastError)) return outcome;
  return { ...outcome, error: { ...outcome.error, code: 'uncaught_exception' } };
}

/** For the log: a serialiser that touches a hostile value would throw where nobody can catch it. */
function describe(error: unknown): StrayError {
  const { message, stack } = toAttemptError(error, '');
  return { message, stack };
}
