import { isStatementTimeout, isTransientError } from '@holdfast/database';
import type { Logger } from '@holdfast/runtime';
import type { ErrorRequestHandler } from 'express';
import { databaseUnavailable } from './database-watch.ts';
import { HttpProblem, problemBody } from './problem.ts';
import { lingerAfterRefusal } from './read-body.ts';
import { requestIdOf } from './request-id.ts';

/** Writes every error as problem details. What is not a problem of the request is logged, and never shown. */
export function answerErrors(logger: Logger): ErrorRequestHandler {
  // eslint-disable-next-line @typescript-eslint/max-params -- Express tells error handlers by their four parameters.
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const problem = asProblem(error);
    const requestId = requestIdOf(response);
    if (problem.status >= 500) {
      const level = problem.code === 'internal_error' ? 'error' : 'warn';
      logger[level](
        { err: problem.cause ?? error, requestId, code: problem.code },
        'request failed',
      );
    }
    for (const [name, value] of Object.entries(problem.options.headers ?? {})) {
      response.setHeader(name, value);
    }
    if (!request.complete) response.setHeader('connection', 'close');
    lingerAfterRefusal(request, response);
    response
      .status(problem.status)
      .type('application/problem+json')
      .send(JSON.stringify(problemBody(problem, requestId)));
  };
}

function asProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (isStatementTimeout(error)) {
    return new HttpProblem('query_too_slow', { headers: { 'retry-after': '5' }, cause: error });
  }
  if (isTransientError(error)) return databaseUnavailable(error);
  if (isBadRequest(error)) return new HttpProblem('invalid_request', { cause: error });
  return new HttpProblem('internal_error', { cause: error });
}

// Express itself refuses paths that are not percent-encoded UTF-8.
function isBadRequest(error: unknown): boolean {
  return (
    error instanceof URIError ||
    (error instanceof Error && 'status' in error && error.status === 400)
  );
}
