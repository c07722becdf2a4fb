import { findProject } from '@holdfast/database';
import { ConfigError } from '@holdfast/domain';
import { exitCodes } from '@holdfast/runtime';
import { createWorkerEngine } from '@holdfast/worker';
import { parseEgressPolicy } from '@holdfast/worker/http/egress-policy';
import { createHttpRequestHandler } from '@holdfast/worker/http/http-request-handler';
import { loadHandlers } from './load-handlers.ts';
import { readVersion } from './read-version.ts';
import type { Database } from '@holdfast/database';
import type { Logger, Metrics, StopRequest } from '@holdfast/runtime';
import type { WorkerEngine } from '@holdfast/worker';
import type { HttpFailureReport } from '@holdfast/worker/http/http-request-handler';
import type { WorkerConfig } from './config.ts';

/** What a worker is made from. */
export interface WorkerServiceOptions {
  readonly config: WorkerConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Ends the process; called when the engine cannot go on, or when a person asks the worker to stop. */
  readonly stop: (request: StopRequest) => void;
}

/**
 * Puts the engine together with the user's handlers and the built-in one for HTTP jobs.
 *
 * @throws ConfigError for a handlers module, egress rule or project that is not usable
 */
export async function createWorkerService(options: WorkerServiceOptions): Promise<WorkerEngine> {
  const { config, database, logger, metrics, stop } = options;
  const policy = parseEgressPolicy(config.egress);
  const version = readVersion();
  const reportFailure = (report: HttpFailureReport): void => {
    logger.warn({ ...report }, 'HTTP job failed');
  };
  const own =
    config.handlersPath === undefined ? undefined : await loadHandlers(config.handlersPath);
  return createWorkerEngine({
    database,
    projectId: await findProjectId(database, config.project),
    handlers: {
      'http.request': createHttpRequestHandler({ policy, version, reportFailure }),
      ...own?.handlers,
    },
    payloadVersions: own?.payloadVersions,
    queues: config.queues,
    concurrency: config.concurrency,
    leaseMs: config.leaseMs,
    heartbeatMs: config.heartbeatMs,
    pollIntervalMs: config.pollIntervalMs,
    drainTimeoutMs: config.drainTimeoutMs,
    labels: config.labels,
    notifications: config.hasNotifications,
    build: version,
    logger,
    // Counting costs a little for each job, and nobody can read it without a port.
    metrics: config.probePort === undefined ? undefined : metrics,
    onFatal: (reason) => {
      stop({ reason, exitCode: exitCodeFor(reason) });
    },
  });
}

async function findProjectId(database: Database, slug: string): Promise<string> {
  const project = await findProject(database, slug);
  if (project !== undefined) return project.id;
  throw new ConfigError(
    `The configuration is invalid:\n  HOLDFAST_PROJECT: there is no project "${slug}"`,
  );
}

function exitCodeFor(reason: string): number {
  if (reason === 'stop_requested') return exitCodes.ok;
  return reason === 'slots_stuck' ? exitCodes.slotsStuck : exitCodes.failure;
}
