import type { Dependencies } from './dependencies.ts';
import type { Handlers } from './http/call.ts';
import { apiKeyHandlers } from './routes/api-keys.ts';
import { authHandlers } from './routes/auth.ts';
import { deadLetterHandlers } from './routes/dead-letters.ts';
import { enqueueHandlers } from './routes/enqueue.ts';
import { healthHandlers } from './routes/health.ts';
import { jobActionHandlers } from './routes/job-actions.ts';
import { jobHandlers } from './routes/jobs.ts';
import { projectHandlers } from './routes/projects.ts';
import { queueHandlers } from './routes/queues.ts';
import { runScheduleHandlers } from './routes/run-schedule.ts';
import { scheduleHandlers } from './routes/schedules.ts';
import { statsHandlers } from './routes/stats.ts';
import { workerHandlers } from './routes/workers.ts';

/** A handler for every route of the contract; one that is missing does not compile. */
export function createHandlers(deps: Dependencies): Handlers {
  return {
    ...authHandlers(deps),
    ...projectHandlers(deps),
    ...apiKeyHandlers(deps),
    ...queueHandlers(deps),
    ...enqueueHandlers(deps),
    ...jobHandlers(deps),
    ...jobActionHandlers(deps),
    ...deadLetterHandlers(deps),
    ...scheduleHandlers(deps),
    ...runScheduleHandlers(deps),
    ...workerHandlers(deps),
    ...statsHandlers(deps),
    ...healthHandlers(deps),
  };
}
