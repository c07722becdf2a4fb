import { HoldfastError } from '@holdfast/domain';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that no id is given twice, also to a callback or in a batch within: a batch that counts one job as two never
 * finishes.
 *
 * @throws HoldfastError `batch_member_exists`
 */
export function checkBatchIds(batch: NewBatch): void {
  refuseRepeated(jobIdsOf(batch));
}

/**
 * The same for jobs that are added to a batch.
 *
 * @throws HoldfastError `batch_member_exists`
 */
export function refuseRepeated(ids: Iterable<string>): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (!seen.has(id)) {
      seen.add(id);
      continue;
    }
    const message = `The id ${id} is given to more than one job of the batch`;
    throw new HoldfastError(message, { code: 'batch_member_exists' });
  }
}

function* jobIdsOf({ jobs, callbacks = [], batches = [] }: NewBatch): Generator<string> {
  for (const { id } of jobs) yield id;
  for (const { jobId } of callbacks) yield jobId;
  for (const inner of batches) yield* jobIdsOf(inner);
}
