import { HoldfastError } from '@holdfast/domain';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that no id is given twice among batches and the given jobs, also to a callback or in a batch within: a batch
 * that counts one job as two never finishes.
 *
 * @throws HoldfastError `batch_member_exists`
 */
export function checkBatchIds(batches: readonly NewBatch[], jobIds: readonly string[] = []): void {
  const seen = { jobs: new Set(), batches: new Set() };
  const see = (kind: 'jobs' | 'batches', id: string): void => {
    if (!seen[kind].has(id)) {
      seen[kind].add(id);
      return;
    }
    const message = `The id ${id} is given to more than one ${kind === 'jobs' ? 'job of the batch' : 'batch'}`;
    throw new HoldfastError(message, { code: 'batch_member_exists' });
  };
  const seeAll = ({ id, jobs, callbacks = [], batches: inner = [] }: NewBatch): void => {
    see('batches', id);
    for (const job of jobs) see('jobs', job.id);
    for (const { jobId } of callbacks) see('jobs', jobId);
    inner.forEach(seeAll);
  };
  for (const id of jobIds) see('jobs', id);
  batches.forEach(seeAll);
}
