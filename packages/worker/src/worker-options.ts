import type { Database } from '@holdfast/database';
import { ConfigError } from '@holdfast/domain';
import type { AttemptError } from '@holdfast/domain';
import type { Clock, Logger, Metrics } from '@holdfast/runtime';
import type { JobHandler } from './handler.ts';
import type { ThreadHandler } from './thread/thread-handler.ts';
import type { TransactionOpener } from './transaction-opener.ts';
import type { WorkerObserver } from './worker-observer.ts';

/** How many milliseconds to wait after a failed attempt; what is no delay counts as a day. */
export type BackoffFunction = (failure: {
  readonly attempt: number;
  readonly error: AttemptError;
}) => number;

/** Versions of payloads by job type. */
export type PayloadVersions = Readonly<Record<string, readonly number[]>>;

/** How a worker runs. Durations in milliseconds. */
export interface WorkerOptions {
  readonly database: Database;
  readonly projectId: string;
  /** Names of the queues to serve; `undefined` for all of the project. */
  readonly queues?: readonly string[] | undefined;
  /** For each job type its handler, or how to run it in a thread. Jobs of other types are left to other workers. */
  readonly handlers: Readonly<Record<string, JobHandler | ThreadHandler>>;
  /** Which versions of their payloads the handlers take; default of each type: 1 alone. Others are left to other workers. */
  readonly payloadVersions?: PayloadVersions | undefined;
  /** How long a handler's thread may go on after an abort before it is ended by force; default 10 s. */
  readonly threadGraceMs?: number | undefined;
  /** For job types whose wait after a failed attempt is a function of it: that function, in milliseconds. */
  readonly backoffs?: Readonly<Record<string, BackoffFunction>> | undefined;
  /** Job types whose jobs become dead letters when a worker died with them, since their effects must not repeat. */
  readonly fragileTypes?: readonly string[] | undefined;
  /** Opens `context.transaction`; by default with a client of the driver `pg`, on a few connections of its own. */
  readonly transactions?: TransactionOpener | undefined;
  /** How many handlers run at once; default 20. Jobs that took a worker down run in one more slot, alone. */
  readonly concurrency?: number | undefined;
  /** Jobs held beyond the slots at most; default 1000. How many are held follows from how fast jobs end. */
  readonly maxPrefetch?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  readonly pollIntervalMs?: number | undefined;
  /** How long a stop waits for running handlers; default 25 s. */
  readonly drainTimeoutMs?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Shown to people: the version of the user's code. */
  readonly build?: string | undefined;
  readonly logger: Logger;
  /** Where the worker counts its executions; nothing is counted without it. */
  readonly metrics?: Metrics | undefined;
  readonly clock?: Clock | undefined;
  /** Listen for wake-ups; default true. */
  readonly notifications?: boolean | undefined;
  /** Contain handlers that end the process or throw outside of their promise; default true. */
  readonly guards?: boolean | undefined;
  /** The process is somebody else's: its own errors are none of the worker's business; default false. */
  readonly isGuest?: boolean | undefined;
  readonly observer?: WorkerObserver | undefined;
  /** The worker cannot go on and wants its process to end with this code. */
  readonly onFatal?: ((reason: string) => void) | undefined;
}

/** The settings of a worker with every default filled in. */
export interface WorkerSettings {
  readonly concurrency: number;
  readonly maxPrefetch: number;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly pollIntervalMs: number;
  readonly drainTimeoutMs: number;
}

/**
 * Fills in the defaults.
 *
 * @throws ConfigError that lists every problem.
 */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  const settings: WorkerSettings = {
    concurrency: options.concurrency ?? 20,
    maxPrefetch: options.maxPrefetch ?? 1_000,
    leaseMs: options.leaseMs ?? 30_000,
    heartbeatMs: options.heartbeatMs ?? 5_000,
    pollIntervalMs: options.pollIntervalMs ?? 500,
    drainTimeoutMs: options.drainTimeoutMs ?? 25_000,
  };
  const problems = problemsOf(settings);
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return settings;
}

function problemsOf(settings: WorkerSettings): readonly string[] {
  const problems: string[] = [];
  const positive = ['concurrency', 'leaseMs', 'heartbeatMs', 'pollIntervalMs'] as const;
  for (const name of positive) {
    const value = settings[name];
    if (!Number.isSafeInteger(value) || value < 1)
      problems.push(`${name} must be a whole number above 0`);
  }
  if (settings.heartbeatMs >= settings.leaseMs / 2) {
    // Two beats must fit into a lease, or one lost packet loses the job.
    problems.push('heartbeatMs must be less than half of leaseMs');
  }
  return problems;
}
