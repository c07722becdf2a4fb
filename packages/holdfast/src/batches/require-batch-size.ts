import { HoldfastError } from '@holdfast/domain';
import type { BatchPlan } from './batch-plan.ts';
import type { ReadMembers } from './read-members.ts';

/** How many batches and jobs there are in something, on all levels. */
export interface BatchSize {
  readonly batches: number;
  /** Callbacks too. */
  readonly jobs: number;
}

const max: BatchSize = { batches: 10_000, jobs: 1_000_000 };

/**
 * Counts members, and what is in them, from what is known of each: a batch that is given twice is two, and all are never
 * gone through.
 *
 * @throws HoldfastError `batch_too_large`
 */
export function requireBatchSize({ jobs, batches }: ReadMembers): BatchSize {
  const size = {
    batches: batches.reduce((sum, { size: inner }) => sum + inner.batches + 1, 0),
    jobs: batches.reduce((sum, plan) => sum + jobsOf(plan), jobs.length),
  };
  if (size.batches <= max.batches && size.jobs <= max.jobs) return size;
  const limits = `${String(max.batches)} batches and ${String(max.jobs)} jobs`;
  throw new HoldfastError(`A batch of one call has at most ${limits} in it, on all levels`, {
    code: 'batch_too_large',
  });
}

function jobsOf({ size, callbacks }: BatchPlan): number {
  return size.jobs + callbacks.length;
}
