import { promoteJobs, reapExpiredLeases, settleEndings } from '@holdfast/database';
import type { Database } from '@holdfast/database';
import { listStoredJobs, readWorkLeft } from '@holdfast/database/time-travel';
import { HoldfastError } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { dispatchPage } from '@holdfast/scheduler';
import { OptionCheck } from '../check-options.ts';
import type { OpenConnection } from '../connection.ts';
import type { Holdfast } from '../holdfast.ts';
import type { WorkerJob } from '../job-definition.ts';
import type { Duration } from '../job-options.ts';
import type { RegisteredTransaction } from '../register.ts';
import { createWorker } from '../worker.ts';
import type { Worker } from '../worker.ts';
import { RunRecorder } from './run-recorder.ts';
import type { JobRun } from './run-recorder.ts';
import type { TestClock } from './test-clock.ts';

/** How jobs are worked. */
export interface DrainOptions<Tx = RegisteredTransaction> {
  /** The definitions whose jobs are worked; others are left where they are. Default: those of the `TestHoldfast`. */
  readonly jobs?: readonly WorkerJob<Tx>[] | undefined;
  /**
   * What happens when attempts fail or time out. `throw` (the default): all is worked, and then a `DrainError` tells of it.
   * `report`: the result tells of it, and nothing is thrown.
   */
  readonly errors?: 'throw' | 'report' | undefined;
  /** How many handlers run at once; default 1, so that jobs run in the order of the line. */
  readonly concurrency?: number | undefined;
  /** How long it may take; default 30 s. */
  readonly timeout?: Duration | undefined;
}

/** What a drain has done. */
export interface DrainResult {
  /** Every run of a handler, in the order in which they ended. */
  readonly ran: readonly JobRun[];
}

/** Attempts failed while jobs were drained; all of the work is done. `cause` is what the first of them threw. */
export class DrainError extends HoldfastError {
  readonly result: DrainResult;

  constructor(result: DrainResult) {
    const failed = result.ran.filter(hasFailed);
    const lines = failed.map(
      ({ type, attempt, error }) => `"${type}", attempt ${String(attempt)}: ${messageOf(error)}`,
    );
    const count = `${String(failed.length)} of ${String(result.ran.length)} attempts failed`;
    super(`${count}: ${lines.join('; ')}`, { cause: failed[0]?.error, code: 'drain_failed' });
    this.result = result;
  }
}

/** What a drain works with. */
export interface Drain<Tx> {
  readonly holdfast: Holdfast<Tx>;
  readonly open: OpenConnection;
  readonly clock: TestClock;
  readonly jobs: readonly WorkerJob<Tx>[];
  /** Adds handlers and middleware to the worker. */
  readonly prepareWorker: ((worker: Worker<Tx>) => unknown) | undefined;
  readonly options: DrainOptions<Tx>;
}

const pollMs = 10;
const defaultTimeoutMs = 30_000;

/**
 * Works jobs until none of their types is due.
 *
 * @throws DrainError; HoldfastError `drain_timed_out`; ConfigError when a job has no handler
 */
export async function drain<Tx>(work: Drain<Tx>): Promise<DrainResult> {
  const { holdfast, open, options } = work;
  const timeoutMs = checkDrainOptions(options);
  const recorder = new RunRecorder(holdfast);
  try {
    await makeDue(work);
    const isIdle = await workUntilIdle(work, recorder, timeoutMs);
    const result = { ran: await withStatuses(open, recorder.runs) };
    if (!isIdle) throw timedOut(timeoutMs, result);
    if (options.errors !== 'report' && result.ran.some(hasFailed)) throw new DrainError(result);
    return result;
  } finally {
    recorder.stop();
  }
}

function checkDrainOptions(options: DrainOptions<never>): number {
  const check = new OptionCheck('drain');
  check.names(options, ['jobs', 'errors', 'concurrency', 'timeout']);
  check.oneOf('errors', options.errors, ['throw', 'report']);
  const timeoutMs = check.duration('timeout', options.timeout, { minMs: 1 });
  check.done();
  return timeoutMs ?? defaultTimeoutMs;
}

function makeWorker<Tx>(
  { holdfast, jobs, prepareWorker, options }: Drain<Tx>,
  middleware: Parameters<Worker<Tx>['use']>[0],
): Worker<Tx> {
  const { concurrency = 1 } = options;
  const shared = { maintenance: false, pollInterval: pollMs };
  const worker = createWorker<Tx>({ holdfast, jobs, concurrency, ...shared });
  worker.use(middleware);
  prepareWorker?.(worker);
  return worker;
}

/**
 * Does what schedulers do, once: what falls due later than this belongs to the next drain. So a retry or a release is
 * never a matter of how quick the machine is.
 */
async function makeDue<Tx>({ open, clock }: Drain<Tx>): Promise<void> {
  const { database } = open;
  await clock.fireSchedules(open);
  // The server may have started a moment ago: nobody in here has lost connections to another one.
  await reapExpiredLeases(database, { leaseMs: 0 });
  for (;;) {
    const { more } = await promoteJobs(database);
    if (!more) return;
  }
}

/** Answers whether there was nothing left to do in the end. */
async function workUntilIdle<Tx>(
  work: Drain<Tx>,
  recorder: RunRecorder<Tx>,
  timeoutMs: number,
): Promise<boolean> {
  const worker = makeWorker(work, recorder.middleware);
  try {
    await worker.start();
    const isIdle = await waitUntilIdle(work.open, recorder, timeoutMs);
    await worker.stop(isIdle ? {} : { timeout: 0 });
    return isIdle;
  } finally {
    await worker.stop({ timeout: 0 });
  }
}

async function waitUntilIdle<Tx>(
  { database, projectId }: OpenConnection,
  recorder: RunRecorder<Tx>,
  timeoutMs: number,
): Promise<boolean> {
  const { types, workerId } = recorder.worker;
  const untilMs = systemClock.monotonicMs() + timeoutMs;
  while (systemClock.monotonicMs() < untilMs) {
    await followUp(database);
    const { jobCount, hasEndings, hasEvents } = await readWorkLeft(database, {
      ...{ projectId, types, workerId },
    });
    if (jobCount === 0 && !hasEndings && !hasEvents) return true;
    await systemClock.sleep(pollMs);
  }
  return false;
}

/** What follows from ended jobs and events: children, callbacks and listeners' jobs. */
async function followUp(database: Database): Promise<void> {
  const { failures: unsettled } = await settleEndings(database);
  const { failures: undispatched } = await dispatchPage(database);
  const [failure] = [...unsettled.map(({ error }) => error), ...undispatched];
  if (failure instanceof Error) throw failure;
}

async function withStatuses(
  { database, projectId }: OpenConnection,
  runs: RunRecorder<unknown>['runs'],
): Promise<readonly JobRun[]> {
  const ids = [...new Set(runs.map(({ id }) => id))];
  const rows = await listStoredJobs(database, { projectId, ids });
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  return runs.map((run) => ({ ...run, status: statuses.get(run.id) ?? 'completed' }));
}

function hasFailed({ outcome }: JobRun): boolean {
  return outcome === 'failed' || outcome === 'timed_out';
}

function timedOut(timeoutMs: number, { ran }: DrainResult): HoldfastError {
  return new HoldfastError(
    `Jobs were still due or running after ${String(timeoutMs)} ms, when ${String(ran.length)} had run`,
    { code: 'drain_timed_out' },
  );
}

function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return String(hasMessage ? error.message : error);
}
