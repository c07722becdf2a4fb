import { requireBatchDepth } from '@holdfast/domain';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that batches in each other end somewhere, and soon enough to be followed by calls of functions.
 *
 * @param outerDepth how many levels there are around it
 * @throws HoldfastError `batch_too_deep`
 */
export function checkBatchDepth(batch: NewBatch, outerDepth = 0): void {
  let level: readonly NewBatch[] = [batch];
  for (let depth = outerDepth + 1; level.length > 0; depth += 1) {
    requireBatchDepth(depth);
    // A batch that contains itself twice must not be followed twice.
    level = [...new Set(level.flatMap(({ batches = [] }) => batches))];
  }
}
