import type { Request } from 'express';
import { HttpProblem } from './problem.ts';

/**
 * Refuses requests that another site makes a browser send. Browsers say where a request comes from; what says nothing
 * is no browser, and has no cookie that it did not set itself.
 *
 * @param options.isProofNeeded refuses also what says nothing
 * @throws HttpProblem `cross_origin`
 */
export function requireSameOrigin(
  request: Request,
  { isProofNeeded }: { readonly isProofNeeded: boolean },
): void {
  const site = request.headers['sec-fetch-site'];
  const { origin } = request.headers;
  const isSame =
    site === undefined
      ? origin === undefined
        ? !isProofNeeded
        : origin === `${request.protocol}://${request.host}`
      : site === 'same-origin';
  if (!isSame) throw new HttpProblem('cross_origin');
}
