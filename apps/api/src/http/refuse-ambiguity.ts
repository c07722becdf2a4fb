import type { RequestHandler } from 'express';
import { HttpProblem } from './problem.ts';

// Of these headers a proxy might believe one and we the other.
const singleHeaders = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'cookie',
]);

/** Refuses requests that two parties could read in two ways: absolute targets, and headers that come twice. */
export const refuseAmbiguity: RequestHandler = (request, _response, next) => {
  if (!request.url.startsWith('/')) {
    throw new HttpProblem('invalid_request', { detail: 'The target must be a path' });
  }
  const seen = new Set<string>();
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]?.toLowerCase() ?? '';
    if (singleHeaders.has(name) && seen.has(name)) {
      throw new HttpProblem('invalid_request', { detail: `The header ${name} comes twice` });
    }
    seen.add(name);
  }
  next();
};
