import { createNotifier, readServer, silentNotifier } from '@holdfast/database';
import {
  answerCheck,
  createLoopWatchdog,
  createProbeServer,
  livenessOf,
  readinessOf,
  systemClock,
} from '@holdfast/runtime';
import { createCron } from './cron.ts';
import { createPromoter } from './promoter.ts';
import { createPruner } from './pruner.ts';
import { createReaper } from './reaper.ts';
import { createRollup } from './rollup.ts';
import { createWakeUpListener } from './wake-up-listener.ts';
import type { Database } from '@holdfast/database';
import type { Logger, Metrics, Service, StopRequest } from '@holdfast/runtime';
import type { SchedulerConfig } from './config.ts';
import type { LoopContext } from './loop-context.ts';

/** What a scheduler is made from. */
export interface SchedulerOptions {
  readonly config: SchedulerConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Ends the process; called when a loop hangs. */
  readonly stop: (request: StopRequest) => void;
}

/** The parts of a scheduler process. Any number of them may run at once; none of them leads. */
export interface Scheduler {
  /** In the order to start. */
  readonly services: readonly Service[];
  /** Turns readiness off, before the services stop. */
  readonly markDraining: () => void;
}

/** Puts the loops of a scheduler together. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { config, database, logger, metrics, stop } = options;
  const notifier = config.hasNotifications ? createNotifier(database) : silentNotifier;
  const context: LoopContext = {
    ...{ database, notifier, logger, metrics },
    tickMs: config.tickMs,
    clock: systemClock,
  };
  const promoter = createPromoter(context);
  const cron = createCron(context);
  const urgent = [promoter, createReaper(context, { leaseMs: config.leaseMs }), cron];
  const loops = [...urgent, createPruner(context, config.retention), createRollup(context)];
  const probe = createProbeServer({
    port: config.probePort ?? 0,
    live: livenessOf(loops),
    ready: [answerCheck('database', () => readServer(database)), ...readinessOf(urgent)],
    metrics,
  });
  return {
    services: [
      closing('notifier', notifier),
      ...(config.probePort === undefined ? [] : [probe]),
      ...loops,
      createLoopWatchdog({ loops, stop, logger }),
      ...(config.hasNotifications ? [createWakeUpListener(database, [promoter, cron])] : []),
    ],
    markDraining: () => {
      probe.markDraining();
    },
  };
}

function closing(name: string, resource: { close(): Promise<void> }): Service {
  return { name, start: () => undefined, stop: () => resource.close() };
}
