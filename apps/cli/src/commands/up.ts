import { join } from 'node:path';
import { issueSignInTicket } from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import { createSilentLogger, exitCodes, runUntilSignal } from '@holdfast/runtime';
import { announcement } from '../up/announce.ts';
import { openDataDirectory } from '../up/data-directory.ts';
import { createDatabaseService } from '../up/database-service.ts';
import { readDemoPlan } from '../up/demo-plan.ts';
import { finishDemo, startDemo } from '../up/demo.ts';
import { findStackFiles } from '../up/stack.ts';
import { createStackService } from '../up/stack-service.ts';
import { createSteps } from '../up/steps.ts';
import { readUpConfig } from '../up/up-config.ts';
import type { Environment, Service, StopRequest } from '@holdfast/runtime';
import type { DataDirectory } from '../up/data-directory.ts';
import type { DatabaseService } from '../up/database-service.ts';
import type { DemoResult, RunningDemo } from '../up/demo.ts';
import type { StackFiles } from '../up/stack.ts';
import type { StackService } from '../up/stack-service.ts';
import type { Steps } from '../up/steps.ts';
import type { UpConfig, UpFlags } from '../up/up-config.ts';

const ticketLifeMs = 24 * 3_600_000;
const demoTimeoutMs = 60_000;
const stopAllTimeoutMs = 90_000;
// A terminal sends Ctrl-C to every process, and whoever started this one may pass it on as well.
const echoMs = 500;

/** Runs everything on this machine until it is told to stop, or, with `--once`, until the demo has ended. */
export async function runUp(flags: UpFlags, env: Environment): Promise<number> {
  const config = readUpConfig(flags, env);
  const files = findStackFiles();
  const steps = createSteps(process.stdout);
  const dataDirectory = openDataDirectory(config.dataDir);
  const database = createDatabaseService({ config, dataDirectory, steps });
  const stack = createStackService({ config, files, dataDirectory, database, steps });
  const stopping = new AbortController();
  let stop: (request: StopRequest) => void = () => undefined;
  const show = createShow({
    ...{ config, files, dataDirectory, database, stack, steps },
    stopped: stopping.signal,
    stop: (request) => {
      stop(request);
    },
  });
  return runUntilSignal([database, stack, show], {
    drainTimeoutMs: stopAllTimeoutMs + config.drainTimeoutMs,
    logger: createSilentLogger(),
    forceAfterMs: echoMs,
    onStopper: (stopper) => {
      stop = stopper;
    },
    onSignal: ({ reason }) => {
      stopping.abort();
      if (reason !== 'done') steps.note('\nStopping; running jobs finish first …');
    },
  });
}

interface ShowOptions {
  readonly config: UpConfig;
  readonly files: StackFiles;
  readonly dataDirectory: DataDirectory;
  readonly database: DatabaseService;
  readonly stack: StackService;
  readonly steps: Steps;
  readonly stopped: AbortSignal;
  readonly stop: (request: StopRequest) => void;
}

/** The last part of a start: the demo's jobs, and the lines that say where to look. */
function createShow(options: ShowOptions): Service {
  const { config, stop, stopped } = options;
  let checked = Promise.resolve();
  return {
    name: 'show',
    start: async () => {
      const demo = config.hasDemo ? await enqueueDemo(options) : undefined;
      if (config.isOnce && demo !== undefined) {
        const isAsPlanned = await checkOnce(demo, options);
        stop({ reason: 'done', exitCode: isAsPlanned ? exitCodes.ok : exitCodes.failure });
        return;
      }
      await announce(options);
      if (demo !== undefined && !stopped.aborted) checked = checkInBackground(demo, options);
    },
    stop: () => checked,
  };
}

async function enqueueDemo(options: ShowOptions): Promise<RunningDemo | undefined> {
  const { config, database, files, stack, steps } = options;
  const ticket = await issueTicket(options);
  if (ticket === undefined) {
    const message = `nobody has the e-mail address ${config.adminEmail}: set HOLDFAST_ADMIN_EMAIL to see the demo`;
    if (config.isOnce) throw new HoldfastError(message, { code: 'config_invalid' });
    steps.warn(message);
    return undefined;
  }
  let demo: RunningDemo | undefined;
  await steps.run('demo', async () => {
    const plan = readDemoPlan(files.demoPlan, stack.targetUrl);
    const isShared = database.isShared && !config.isOnce;
    demo = await startDemo({ plan, baseUrl: stack.baseUrl, ticket, isShared });
    const { length } = demo.jobs;
    return `${String(length)} ${length === 1 ? 'job' : 'jobs'} enqueued, ${String(plan.schedules.length)} schedule every minute`;
  });
  return demo;
}

async function checkOnce(demo: RunningDemo, { steps, stopped }: ShowOptions): Promise<boolean> {
  let results: readonly DemoResult[] = [];
  await steps.run('jobs', async () => {
    results = await finishDemo(demo, { timeoutMs: demoTimeoutMs, signal: stopped });
    return 'ended';
  });
  for (const { label, jobCount, isAsPlanned, outcome } of results) {
    steps.note(`  ${isAsPlanned ? '✔' : '✘'} ${String(jobCount)} × ${label}: ${outcome}`);
  }
  const isAsPlanned = results.every((result) => result.isAsPlanned);
  steps.note(isAsPlanned ? 'Every job ended as planned.' : 'Some jobs did not end as planned.');
  return isAsPlanned;
}

async function checkInBackground(demo: RunningDemo, options: ShowOptions): Promise<void> {
  const { steps, stopped } = options;
  try {
    const results = await finishDemo(demo, { timeoutMs: demoTimeoutMs, signal: stopped });
    if (stopped.aborted) return;
    const wrong = results.filter((result) => !result.isAsPlanned);
    if (wrong.length === 0) steps.note(summaryOf(results));
    for (const { label, outcome } of wrong) steps.warn(`demo: ${label}: ${outcome}`);
  } catch (error) {
    if (!stopped.aborted) steps.warn(`demo: ${error instanceof Error ? error.message : 'failed'}`);
  }
}

function summaryOf(results: readonly DemoResult[]): string {
  const count = (outcome: string): number =>
    results
      .filter((result) => result.outcome.startsWith(outcome))
      .reduce((sum, { jobCount }) => sum + jobCount, 0);
  return (
    `  The demo's jobs have ended as planned: ${String(count('completed'))} completed, ` +
    `${String(count('dead_letter'))} in the dead letters on purpose.`
  );
}

async function announce(options: ShowOptions): Promise<void> {
  const { config, dataDirectory, files, stack, steps } = options;
  steps.note(
    announcement({
      baseUrl: stack.baseUrl,
      ticket: await issueTicket(options),
      hasDashboard: files.webRoot !== undefined,
      email: config.adminEmail,
      passwordPath: config.adminPassword === undefined ? dataDirectory.passwordPath : undefined,
      newPassword: stack.newPassword,
      logPath: config.isVerbose ? undefined : join(dataDirectory.path, 'logs'),
    }),
  );
}

function issueTicket({ config, database }: ShowOptions): Promise<string | undefined> {
  return issueSignInTicket(database.database, {
    email: config.adminEmail,
    lifeMs: ticketLifeMs,
  });
}
