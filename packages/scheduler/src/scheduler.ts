import { createNotifier, defaultRetention, silentNotifier } from '@holdfast/database';
import { systemClock } from '@holdfast/runtime';
import { createCron } from './cron.ts';
import { createDispatcher } from './dispatcher.ts';
import { createPromoter } from './promoter.ts';
import { createPruner } from './pruner.ts';
import { createReaper } from './reaper.ts';
import { createRollup } from './rollup.ts';
import { createSettlerLoop } from './settler.ts';
import { createWakeUpListener } from './wake-up-listener.ts';
import type { Database, Retention } from '@holdfast/database';
import type { Clock, Logger, Loop, Metrics, Service } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

/** What a scheduler is made from. Durations in milliseconds. */
export interface SchedulerOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Where the loops count what they do; nothing is counted without it. */
  readonly metrics?: Metrics | undefined;
  readonly clock?: Clock | undefined;
  /** The workers' lease: after a failover nothing is reaped for this long; default 30 s. */
  readonly leaseMs?: number | undefined;
  /** The longest sleep of the urgent loops; default 10 s. */
  readonly tickMs?: number | undefined;
  readonly retention?: Retention | undefined;
  /** False to live from polling alone; default true. */
  readonly hasNotifications?: boolean | undefined;
}

/** The duties of a scheduler. Any number of schedulers may run at once, in any processes; none of them leads. */
export interface Scheduler extends Service {
  readonly loops: readonly Loop[];
  /** Those of the loops without which jobs do not move; a process is not ready before each has succeeded. */
  readonly urgentLoops: readonly Loop[];
}

interface Duty {
  readonly createLoop: (context: LoopContext) => Loop;
  readonly isUrgent?: true;
  /** The loop sleeps, and must hear of what became due earlier than it thought, or of new events. */
  readonly wokenBy?: 'due' | 'events';
}

/** Every duty of a scheduler; one more is one more loop and one more line. */
const duties: readonly Duty[] = [
  { createLoop: createPromoter, isUrgent: true, wokenBy: 'due' },
  { createLoop: createReaper, isUrgent: true },
  { createLoop: createCron, isUrgent: true, wokenBy: 'due' },
  { createLoop: createSettlerLoop, isUrgent: true },
  { createLoop: createDispatcher, wokenBy: 'events' },
  { createLoop: createPruner },
  { createLoop: createRollup },
];

/** Puts the loops of a scheduler together; `start` begins them, and `stop` lets each end its round. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { database, metrics, hasNotifications = true } = options;
  const notifier = hasNotifications ? createNotifier(database) : silentNotifier;
  const context: LoopContext = {
    ...{ database, notifier, logger: options.logger },
    ...(metrics === undefined ? {} : { metrics }),
    clock: options.clock ?? systemClock,
    tickMs: options.tickMs ?? 10_000,
    leaseMs: options.leaseMs ?? 30_000,
    retention: options.retention ?? defaultRetention,
  };
  const members = duties.map((duty) => ({ ...duty, loop: duty.createLoop(context) }));
  const loops = members.map(({ loop }) => loop);
  const wokenByOf = (reason: Duty['wokenBy']): readonly Loop[] =>
    members.filter(({ wokenBy }) => wokenBy === reason).map(({ loop }) => loop);
  const woken = { due: wokenByOf('due'), events: wokenByOf('events') };
  const services = hasNotifications ? [...loops, createWakeUpListener(database, woken)] : loops;
  return {
    name: 'scheduler',
    loops,
    urgentLoops: members.filter(({ isUrgent }) => isUrgent).map(({ loop }) => loop),
    start: async () => {
      for (const service of services) await service.start();
    },
    stop: async () => {
      try {
        await Promise.all(services.map((service) => service.stop()));
      } finally {
        // The last rounds may have had something to say.
        await notifier.close();
      }
    },
  };
}
