import { authRoutes } from './routes/auth.ts';
import { batchRoutes } from './routes/batches.ts';
import { deadLetterRoutes } from './routes/dead-letters.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { jobActionRoutes, jobRoutes } from './routes/jobs.ts';
import { projectRoutes } from './routes/projects.ts';
import { queueRoutes } from './routes/queues.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { statsRoutes } from './routes/stats.ts';
import { workerRoutes } from './routes/workers.ts';

/** Every route of the API, by the name of its operation. */
export const routes = {
  ...authRoutes,
  ...projectRoutes,
  ...queueRoutes,
  ...jobRoutes,
  ...jobActionRoutes,
  ...batchRoutes,
  ...deadLetterRoutes,
  ...scheduleRoutes,
  ...workerRoutes,
  ...eventRoutes,
  ...statsRoutes,
  ...healthRoutes,
} as const;

/** Every route of the API. */
export type Routes = typeof routes;

/** The name of an operation. */
export type RouteName = keyof Routes;
