import { createHash } from 'node:crypto';
import { IdempotencyKey } from '@holdfast/contract';
import { keepIdempotentResponse, takeIdempotencyKey } from '@holdfast/database';
import type { Database, IdempotentRequest, Queryable } from '@holdfast/database';
import type { Request } from 'express';
import type { Answer } from './call.ts';
import { HttpProblem, validationFailed } from './problem.ts';

/** A request that may carry an `Idempotency-Key`. */
export interface RepeatableRequest {
  readonly request: Request;
  readonly bodyBytes: Buffer;
  readonly project: { readonly id: string };
}

/** The idempotency key of a request, if it has one. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined || IdempotencyKey.safeParse(key).success) return key;
  const detail = 'must be 1 to 255 printable ASCII characters';
  throw validationFailed([{ pointer: 'Idempotency-Key', detail }]);
}

/**
 * Does something in a transaction, once: with the same idempotency key and body within 24 hours the first answer comes
 * again, with `Idempotent-Replayed: true`. The key, the effect and the answer are committed together.
 *
 * @param work runs on the transaction; its answer must be JSON
 * @throws HttpProblem `idempotency_key_reused` for the same key with another request
 */
export async function once<Body>(
  database: Database,
  call: RepeatableRequest,
  work: (tx: Queryable) => Promise<Answer<Body> & { readonly status: number }>,
): Promise<Answer<Body> & { readonly status: number; readonly isReplayed: boolean }> {
  const key = idempotencyKeyOf(call.request);
  return database.transaction(async (tx) => {
    if (key === undefined) return { ...(await work(tx)), isReplayed: false };
    const identity = identify(call, key);
    const claim = await takeIdempotencyKey(tx, identity);
    if (claim.kind === 'other_request') throw new HttpProblem('idempotency_key_reused');
    if (claim.kind === 'answered') {
      const { status, body } = claim.response;
      const headers = { 'idempotent-replayed': 'true' };
      // It was kept by this same route.
      return { status, headers, body: body as Body, isReplayed: true };
    }
    const answer = await work(tx);
    await keepIdempotentResponse(tx, identity, { status: answer.status, body: answer.body });
    return { ...answer, isReplayed: false };
  });
}

function identify(
  { request, bodyBytes, project }: RepeatableRequest,
  key: string,
): IdempotentRequest {
  const requestHash = createHash('sha256')
    .update(`${request.method} ${request.path}\0`)
    .update(bodyBytes)
    .digest();
  return {
    projectId: project.id,
    keyHash: createHash('sha256').update(key).digest(),
    requestHash,
  };
}
