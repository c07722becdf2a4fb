import express from 'express';
import type { Express } from 'express';
import type { Dependencies } from './dependencies.ts';
import { createHandlers } from './handlers.ts';
import { answerErrors } from './http/error-handler.ts';
import { observeRequests } from './http/observe-requests.ts';
import { HttpProblem } from './http/problem.ts';
import { limitRequests } from './http/rate-limits.ts';
import { refuseAmbiguity } from './http/refuse-ambiguity.ts';
import { registerRoutes } from './http/register-routes.ts';
import { assignRequestId } from './http/request-id.ts';
import { neverStore, securityHeaders } from './http/security-headers.ts';
import { registerDashboard } from './routes/dashboard.ts';
import { registerDocs } from './routes/docs.ts';

/** The application: what happens to every request, in order. */
export function createApp(deps: Dependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', deps.config.trustedProxies);

  app.use(assignRequestId, observeRequests(deps), securityHeaders, refuseAmbiguity);
  app.use('/api', neverStore, limitRequests(deps.config.requestsPerMinute));
  registerRoutes(app, deps, createHandlers(deps));
  registerDocs(app);
  if (deps.config.webRoot !== undefined) registerDashboard(app, deps.config.webRoot);

  app.use(() => {
    throw new HttpProblem('not_found');
  });
  app.use(answerErrors(deps.logger));
  return app;
}
