import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';

const acceptable = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives every request an id, the caller's own when it is a plain one, and answers it. */
export const assignRequestId: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id');
  const id = given !== undefined && acceptable.test(given) ? given : randomUUID();
  response.setHeader('x-request-id', id);
  next();
};

/** The id of the request that is being answered. */
export function requestIdOf(response: Response): string {
  return String(response.getHeader('x-request-id') ?? '');
}
