import { defaultRetention } from '@holdfast/database';
import type { Retention } from '@holdfast/database';
import { OptionCheck } from './check-options.ts';
import type { Holdfast } from './holdfast.ts';
import type { WorkerJob } from './job-definition.ts';
import { isHoldfast } from './internals.ts';
import { readQueue } from './job-fields.ts';
import type { Duration } from './job-options.ts';
import type { HoldfastLogger } from './logger.ts';
import type { RegisteredTransaction } from './register.ts';

/** How long things are kept; an hour at least. */
export interface RetentionOptions {
  /** Completed and cancelled jobs with their executions and logs; whole days at a time are dropped. Default 7 days. */
  readonly history?: Duration | undefined;
  /** How long a dead letter can be replayed, before it becomes history. Default 90 days. */
  readonly deadLetters?: Duration | undefined;
}

/** How a worker runs. */
export interface WorkerOptions<Tx = RegisteredTransaction> {
  /** Where its jobs come from. */
  readonly holdfast: Holdfast<Tx>;
  /**
   * The definitions of its jobs; those without `run` get their handler by `handle`. Other types are left to others. Where
   * `holdfast` has the transactions of another library than `Register` names, a `run` that takes `ctx` is for `handle`, too.
   */
  readonly jobs?: readonly WorkerJob<NoInfer<Tx>>[] | undefined;
  /** The queues that it serves; default: all of the project. */
  readonly queues?: readonly string[] | undefined;
  /** How many handlers run at once; default 20. */
  readonly concurrency?: number | undefined;
  /** How long a crashed worker's jobs stay with it; default 30 s. */
  readonly lease?: Duration | undefined;
  /** How often leases are extended; less than half of a lease, default 5 s. */
  readonly heartbeat?: Duration | undefined;
  /** How long a stop waits for running handlers; default 25 s. */
  readonly drainTimeout?: Duration | undefined;
  /** How often it looks for jobs that nobody woke it for; default 500 ms. */
  readonly pollInterval?: Duration | undefined;
  /**
   * Also run the scheduler's loops in this process: delays, retries, crashed workers, schedules, retention. Any number of
   * processes may. Default true; give false where schedulers of their own run.
   */
  readonly maintenance?: boolean | undefined;
  /**
   * How long the loops keep what has ended. They do so for the whole database: of several processes that run them, the
   * shortest time holds, so give all the same.
   */
  readonly retention?: RetentionOptions | undefined;
  /** Shown to people beside the worker. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Shown to people: the version of your code. */
  readonly build?: string | undefined;
  /** In the manner of pino; default: that of `holdfast`. */
  readonly logger?: HoldfastLogger | undefined;
}

/** The options of a worker in the form of the engine. */
export interface ReadWorkerOptions {
  readonly queues: readonly string[] | undefined;
  readonly concurrency: number;
  readonly leaseMs: number | undefined;
  readonly heartbeatMs: number | undefined;
  readonly drainTimeoutMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
  readonly retention: Retention;
}

/** As for the schedulers of the server. */
const shortestRetentionMs = 3_600_000;

const names = [
  ...['holdfast', 'jobs', 'queues', 'concurrency', 'lease', 'heartbeat', 'drainTimeout'],
  ...['pollInterval', 'maintenance', 'retention', 'labels', 'build', 'logger'],
];

/** Callers in plain JavaScript may give one job, or what a module does not export. */
function areDefinitions(jobs: unknown): boolean {
  if (jobs === undefined) return true;
  const isDefinition = (job: unknown) =>
    typeof job === 'object' && job !== null && 'type' in job && 'defaults' in job;
  return Array.isArray(jobs) && jobs.every(isDefinition);
}

function checkQueues(check: OptionCheck, queues: readonly string[] | undefined): void {
  if (queues === undefined) return;
  // Each letter of a text is the name of a queue, too.
  const areListed: boolean = Array.isArray(queues);
  if (!areListed) check.refuse('queues must be an array');
  else if (queues.length === 0) check.refuse('queues must name a queue, or be left out for all');
  else for (const queue of queues) readQueue(check, queue);
}

function readRetention(
  check: OptionCheck,
  { retention, maintenance }: WorkerOptions<never>,
): Retention {
  if (retention === undefined) return defaultRetention;
  if (!check.names(retention, ['history', 'deadLetters'], 'retention')) return defaultRetention;
  if (maintenance === false) check.refuse('retention is for workers with maintenance');
  const { historyMs, deadLettersMs } = defaultRetention;
  const bounds = { minMs: shortestRetentionMs };
  const { history, deadLetters } = retention;
  return {
    ...defaultRetention,
    historyMs: check.duration('retention.history', history, bounds) ?? historyMs,
    deadLettersMs: check.duration('retention.deadLetters', deadLetters, bounds) ?? deadLettersMs,
  };
}

/**
 * Checks the options of `createWorker`.
 *
 * @throws OptionsInvalidError that lists every problem
 */
export function readWorkerOptions(options: WorkerOptions<never>): ReadWorkerOptions {
  const check = new OptionCheck('createWorker');
  if (!check.names(options, names)) check.done();
  if (!isHoldfast(options.holdfast)) check.refuse('holdfast must be an instance of Holdfast');
  checkQueues(check, options.queues);
  if (!areDefinitions(options.jobs)) check.refuse('jobs must be an array of definitions');
  const read = {
    queues: options.queues,
    concurrency: check.whole('concurrency', options.concurrency, { min: 1, max: 10_000 }) ?? 20,
    leaseMs: check.duration('lease', options.lease, { minMs: 1 }),
    heartbeatMs: check.duration('heartbeat', options.heartbeat, { minMs: 1 }),
    drainTimeoutMs: check.duration('drainTimeout', options.drainTimeout),
    pollIntervalMs: check.duration('pollInterval', options.pollInterval, { minMs: 1 }),
    retention: readRetention(check, options),
  };
  const { leaseMs = 30_000, heartbeatMs = 5_000 } = read;
  if (heartbeatMs >= leaseMs / 2) check.refuse('heartbeat must be less than half of lease');
  check.done();
  return read;
}
