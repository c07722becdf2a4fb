import { createHash } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { HttpProblem } from './problem.ts';

const minuteMs = 60_000;

/**
 * Limits how often one caller asks; callers are told apart by credential, or else by address. Counted in this process:
 * with n processes behind a balancer a caller gets up to n times as much.
 */
export function limitRequests(perMinute: number): RequestHandler {
  if (perMinute === 0) {
    return (_request, _response, next) => {
      next();
    };
  }
  return rateLimit({
    windowMs: minuteMs,
    limit: perMinute,
    identifier: 'requests',
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: callerOf,
    handler: refuse,
  });
}

function callerOf(request: Request): string {
  const { authorization } = request.headers;
  if (authorization === undefined) return addressOf(request);
  return createHash('sha256').update(authorization).digest('base64url');
}

// A household or a host has a whole /64 of IPv6 addresses.
function addressOf(request: Request): string {
  return ipKeyGenerator(request.ip ?? '', 64);
}

const refuse: RequestHandler = (_request, response, next) => {
  const retryAfter = String(response.getHeader('retry-after') ?? '60');
  next(new HttpProblem('rate_limited', { headers: { 'retry-after': retryAfter } }));
};
