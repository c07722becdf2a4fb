import { dispatchLimit, readOutboxState, wakeForJobs } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import { dispatchPage } from './dispatch-page.ts';
import type { Loop, Metrics } from '@holdfast/runtime';
import type { DispatchedPage } from './dispatch-page.ts';
import type { LoopContext } from './loop-context.ts';

/** Workers write events and wake nobody for them: while somebody is subscribed, the outbox is looked at this often. */
const pollMs = 500;
/** Where events have just come, more may follow. */
const busyPollMs = 100;

/** Numbers the events of the outbox and enqueues the jobs of their listeners. Sleeps long while nobody is subscribed. */
export function createDispatcher(context: LoopContext): Loop {
  const { database, notifier, logger, metrics } = context;
  const meters = metersOf(metrics);
  return createLoop({
    ...context,
    name: 'dispatcher',
    maxIntervalMs: context.tickMs,
    run: async () => {
      const { hasPending, hasSubscriptions } = await readOutboxState(database);
      if (!hasPending) return { nextInMs: hasSubscriptions ? pollMs : undefined };
      const page = await dispatchPage(database);
      wakeForJobs(notifier, page);
      meters.count(page);
      for (const error of page.failures) {
        logger.error({ err: error }, 'the jobs of an event could not be made');
      }
      return { nextInMs: page.eventCount >= dispatchLimit ? 0 : busyPollMs };
    },
  });
}

function metersOf(metrics: Metrics | undefined): { count(page: DispatchedPage): void } {
  const dispatched = metrics?.counter({
    name: 'events_dispatched_total',
    help: 'Events of the outbox that were given their place in the order',
  });
  const failed = metrics?.counter({
    name: 'event_listeners_failed_total',
    help: 'Events whose listeners’ jobs could not be made; anything but 0 needs attention',
  });
  return {
    count: ({ eventCount, failures }) => {
      dispatched?.inc(eventCount);
      failed?.inc(failures.length);
    },
  };
}
