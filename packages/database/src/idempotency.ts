import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** A request that carries an idempotency key; both hashes are SHA-256. */
export interface IdempotentRequest {
  readonly projectId: string;
  readonly keyHash: Buffer;
  readonly requestHash: Buffer;
}

/** An answer as kept. */
export interface KeptResponse {
  readonly status: number;
  readonly body: unknown;
}

/** What became of an attempt to use an idempotency key. */
export type IdempotencyClaim =
  | { readonly kind: 'taken' }
  | { readonly kind: 'answered'; readonly response: KeptResponse }
  | { readonly kind: 'other_request' };

interface KeptRow {
  readonly request_hash: Buffer;
  readonly response_status: number;
  readonly response_body: unknown;
}

/**
 * Takes an idempotency key for this transaction. When another transaction has it, waits for its end: then either its
 * answer is there, or, if it failed, the key is ours.
 */
export async function takeIdempotencyKey(
  tx: Queryable,
  request: IdempotentRequest,
): Promise<IdempotencyClaim> {
  const { projectId, keyHash, requestHash } = request;
  const taken = await tx.query(statements.takeIdempotencyKey, [projectId, keyHash, requestHash]);
  if (taken.length > 0) return { kind: 'taken' };
  const [kept] = await tx.query<KeptRow>(statements.readIdempotentResponse, [projectId, keyHash]);
  if (kept?.request_hash.equals(requestHash) !== true) return { kind: 'other_request' };
  const response = { status: kept.response_status, body: kept.response_body };
  return { kind: 'answered', response };
}

/** Keeps the answer of a request whose key was taken, in the same transaction. */
export async function keepIdempotentResponse(
  tx: Queryable,
  request: IdempotentRequest,
  response: KeptResponse,
): Promise<void> {
  const body = JSON.stringify(response.body);
  const values = [request.projectId, request.keyHash, response.status, body];
  await tx.query(statements.keepIdempotentResponse, values);
}
