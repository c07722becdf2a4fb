import { inspect } from 'node:util';
import { HoldfastError } from '@holdfast/domain';
import type { AttemptOutcome } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import { toAttemptError } from './attempt-error.ts';
import { currentJob, outcomeOfError } from './executor.ts';
import { abortJob } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import { isInstanceOf } from './is-instance-of.ts';

/** What is known of an error that nobody caught. */
export interface StrayError {
  readonly message: string;
  readonly stack: string | undefined;
}

/** Takes the guards down again. */
export type RemoveGuards = () => void;

/** What one worker wants of the guards. */
export interface GuardOptions {
  readonly logger: Logger;
  /** The process is somebody else's. */
  readonly isGuest: boolean;
  /** Called for an uncaught error that belongs to no job. */
  readonly onFatal: (error: StrayError) => void;
}

type StrayEvent = 'uncaughtException' | 'unhandledRejection';

/** The guards belong to the process: its workers share them, the last one takes them down. */
const guarded = new Set<GuardOptions>();
let ownExit: typeof process.exit | undefined;

/**
 * Keeps a handler's mistakes from taking the whole process down: errors thrown in its timers and promises that nobody
 * awaits fail its own attempt, and so does a call of `process.exit()`. Errors of no job end the process as usual: with a
 * report to `onFatal`, or, in somebody else's process, as if the guards were not there.
 */
export function guardProcess(options: GuardOptions): RemoveGuards {
  // Each worker has its own entry, also when two are made from the same options.
  const entry = { ...options };
  if (guarded.size === 0) putUp();
  guarded.add(entry);
  return () => {
    if (guarded.delete(entry) && guarded.size === 0) takeDown();
  };
}

function putUp(): void {
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  // eslint-disable-next-line @typescript-eslint/unbound-method -- kept as it is, to be put back; `exit` calls it on the process
  ownExit = process.exit;
  process.exit = guardedExit;
}

function takeDown(): void {
  process.off('uncaughtException', onException);
  process.off('unhandledRejection', onRejection);
  // Somebody may have put a function of their own in its place meanwhile.
  if (process.exit === guardedExit && ownExit !== undefined) process.exit = ownExit;
}

function onException(error: unknown): void {
  if (!blame(error, 'uncaught exception in a handler')) report(error, 'uncaughtException');
}

function onRejection(error: unknown): void {
  if (!blame(error, 'unhandled rejection in a handler')) report(error, 'unhandledRejection');
}

function blame(error: unknown, message: string): boolean {
  const job = currentJob.getStore();
  if (job === undefined) return false;
  const [first] = guarded;
  first?.logger.error({ jobId: job.claimed.id, err: describe(error) }, message);
  const outcome = outcomeOfStray(job, error);
  // The handler may run on; it is told to end.
  abortJob(job, 'stray_error', strayReason(error));
  job.settle?.(outcome);
  return true;
}

function report(error: unknown, event: StrayEvent): void {
  const own = [...guarded].filter(({ isGuest }) => !isGuest);
  if (own.length === 0) leaveToHost(error, event);
  for (const { logger, onFatal } of own) {
    if (event === 'uncaughtException') onFatal(describe(error));
    else logger.error({ err: describe(error) }, 'unhandled rejection');
  }
}

function leaveToHost(error: unknown, event: StrayEvent): void {
  if (process.listenerCount(event) > 1) return;
  process.stderr.write(`Uncaught ${inspect(error)}\n`);
  exit(1);
}

function guardedExit(code?: number | string | null): never {
  if (currentJob.getStore() === undefined) return exit(code);
  throw new HoldfastError(`The handler called process.exit(${String(code ?? '')})`, {
    code: 'handler_exited',
  });
}

function exit(code?: number | string | null): never {
  // Code that kept the guarded function may call it when the guards are down.
  if (ownExit === undefined) process.exit(code);
  return ownExit.call(process, code);
}

/** The attempt's end by an error that was not thrown to its caller. */
function outcomeOfStray(job: HeldJob, error: unknown): AttemptOutcome {
  const outcome = outcomeOfError(job, error);
  if (outcome.kind !== 'failed' || isInstanceOf(error, HoldfastError)) return outcome;
  return { ...outcome, error: { ...outcome.error, code: 'uncaught_exception' } };
}

function strayReason(cause: unknown): HoldfastError {
  return new HoldfastError('An error that nobody caught has ended the attempt', {
    cause,
    code: 'uncaught_exception',
  });
}

/** For the log: a serialiser that touches a hostile value would throw where nobody can catch it. */
function describe(error: unknown): StrayError {
  const { message, stack } = toAttemptError(error, '');
  return { message, stack };
}
