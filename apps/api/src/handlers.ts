import { createSignInLimits } from './auth/sign-in-limits.ts';
import type { Dependencies } from './dependencies.ts';
import type { Handlers } from './http/call.ts';
import { createQueuePages } from './queue-pages.ts';
import { apiKeyHandlers } from './routes/api-keys.ts';
import { batchHandlers } from './routes/batches.ts';
import { deadLetterHandlers } from './routes/dead-letters.ts';
import { enqueueHandlers } from './routes/enqueue.ts';
import { eventSubscriptionHandlers } from './routes/event-subscriptions.ts';
import { eventHandlers } from './routes/events.ts';
import { healthHandlers } from './routes/health.ts';
import { jobActionHandlers } from './routes/job-actions.ts';
import { jobListHandlers } from './routes/job-list.ts';
import { jobHandlers } from './routes/jobs.ts';
import { makeBatchHandlers } from './routes/make-batches.ts';
import { projectHandlers } from './routes/projects.ts';
import { queueActionHandlers } from './routes/queue-actions.ts';
import { queueHandlers } from './routes/queues.ts';
import { runScheduleHandlers } from './routes/run-schedule.ts';
import { scheduleActionHandlers } from './routes/schedule-actions.ts';
import { scheduleHandlers } from './routes/schedules.ts';
import { sessionHandlers } from './routes/session.ts';
import { signInHandlers } from './routes/sign-in.ts';
import { statsHandlers } from './routes/stats.ts';
import { workerHandlers } from './routes/workers.ts';

/** A handler for every route of the contract; one that is missing does not compile. */
export function createHandlers(deps: Dependencies): Handlers {
  const limits = createSignInLimits(() => deps.clock.nowMs());
  const pages = createQueuePages(deps);
  return {
    ...signInHandlers(deps, limits),
    ...sessionHandlers(deps, limits),
    ...projectHandlers(deps),
    ...apiKeyHandlers(deps),
    ...queueHandlers(deps, pages),
    ...queueActionHandlers(deps, pages),
    ...enqueueHandlers(deps),
    ...jobHandlers(deps),
    ...jobListHandlers(deps),
    ...jobActionHandlers(deps),
    ...makeBatchHandlers(deps),
    ...batchHandlers(deps),
    ...deadLetterHandlers(deps),
    ...scheduleHandlers(deps),
    ...scheduleActionHandlers(deps),
    ...runScheduleHandlers(deps),
    ...workerHandlers(deps),
    ...eventHandlers(deps),
    ...eventSubscriptionHandlers(deps),
    ...statsHandlers(deps),
    ...healthHandlers(deps),
  };
}
