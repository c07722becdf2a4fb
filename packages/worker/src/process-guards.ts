import { HoldfastError } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import { currentJob, outcomeOfError } from './executor.ts';

/** Takes the guards down again. */
export type RemoveGuards = () => void;

/**
 * Keeps a handler's mistakes from taking the whole process down: errors thrown in its timers and promises that nobody
 * awaits fail its own attempt, and so does a call of `process.exit()`. Errors of no job end the process as usual.
 */
export function guardProcess(options: {
  readonly logger: Logger;
  /** Called for an uncaught error that belongs to no job. */
  readonly onFatal: (error: unknown) => void;
}): RemoveGuards {
  const blame = (error: unknown, event: string): boolean => {
    const job = currentJob.getStore();
    if (job === undefined) return false;
    options.logger.error({ jobId: job.claimed.id, err: error }, event);
    job.settle?.(outcomeOfError(job, withCode(error)));
    return true;
  };
  const onException = (error: unknown): void => {
    if (!blame(error, 'uncaught exception in a handler')) options.onFatal(error);
  };
  const onRejection = (error: unknown): void => {
    if (!blame(error, 'unhandled rejection in a handler')) {
      options.logger.error({ err: error }, 'unhandled rejection');
    }
  };
  const exit = process.exit.bind(process);
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

function withCode(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError(message, { code: 'uncaught_exception', cause: error });
}
