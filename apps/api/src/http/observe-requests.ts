import type { Clock, Logger, Metrics } from '@holdfast/runtime';
import type { RequestHandler, Response } from 'express';
import { requestIdOf } from './request-id.ts';

const quietPaths = new Set(['/livez', '/readyz', '/metrics']);

/** Logs each request once it was answered, and measures it. Probes are logged only when one looks closely. */
export function observeRequests({
  logger,
  metrics,
  clock,
}: {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}): RequestHandler {
  const duration = metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'How long requests took to answer',
    labelNames: ['method', 'route', 'code'],
  });
  return (request, response, next) => {
    const startedMs = clock.monotonicMs();
    response.once('close', () => {
      const durationMs = clock.monotonicMs() - startedMs;
      const route = String(response.locals['route'] ?? 'other');
      const { method } = request;
      const status = response.statusCode;
      // How long somebody reads a stream says nothing of how fast it was answered.
      if (!isStream(response)) {
        duration.observe({ method, route, code: String(status) }, durationMs / 1_000);
      }
      const level = quietPaths.has(request.path) ? 'debug' : 'info';
      const fields = { requestId: requestIdOf(response), method, path: request.path, status };
      const isCut = !response.writableFinished;
      logger[level]({ ...fields, durationMs: Math.round(durationMs), isCut }, 'request');
    });
    next();
  };
}

function isStream(response: Response): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
