import { checkBatchDepth } from './check-batch-depth.ts';
import { checkBatchIds } from './check-batch-ids.ts';
import { checkDependencies } from './check-dependencies.ts';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that a batch can be made and can finish, as far as it says so itself.
 *
 * @throws HoldfastError `batch_too_deep`, `batch_member_exists`, `graph_invalid`
 */
export function checkBatch(batch: NewBatch): void {
  checkBatchDepth(batch);
  checkBatchIds([batch]);
  checkTree(batch);
}

function checkTree(batch: NewBatch): void {
  checkDependencies(batch);
  for (const inner of batch.batches ?? []) checkTree(inner);
}

/** The names of the queues of everything in a batch. */
export function queuesOfBatch({
  jobs,
  callbacks = [],
  batches = [],
}: NewBatch): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { queue } of jobs) names.add(queue);
  for (const { job } of callbacks) names.add(job.queue);
  for (const inner of batches) for (const name of queuesOfBatch(inner)) names.add(name);
  return names;
}
