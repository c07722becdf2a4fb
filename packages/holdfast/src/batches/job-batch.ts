import type { RegisteredTransaction } from '../register.ts';
import type { BatchInfo } from './batch-info.ts';
import type { BatchEnqueueResult, BatchMember } from './batch-plan.ts';
import type { Batches } from './batches.ts';

/** The batch, chain or graph that a job is a part of, as its handler sees it. */
export interface JobBatch<Tx = RegisteredTransaction> {
  readonly id: string;
  /** Reads how far it is. */
  readonly get: () => Promise<BatchInfo>;
  /** Adds members to it, which is always possible while a member runs; see `holdfast.batches.add`. */
  readonly add: (
    members: BatchMember | readonly BatchMember[],
    options?: { readonly tx?: Tx | undefined },
  ) => Promise<Omit<BatchEnqueueResult, 'id'>>;
}

/** What handlers can do with batches. */
export type BatchAccess<Tx> = Pick<Batches<Tx>, 'get' | 'add'>;

/** The handler's way to its batch. */
export function jobBatch<Tx>(batches: BatchAccess<Tx>, id: string): JobBatch<Tx> {
  return {
    id,
    get: () => batches.get(id),
    add: (members, options) => batches.add(id, members, options),
  };
}
