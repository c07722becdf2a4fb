import { requireBatchDepth } from '@holdfast/domain';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that batches in each other end somewhere, and soon enough to be followed by calls of functions.
 *
 * @throws HoldfastError `batch_too_deep`
 */
export function checkBatchDepth(batch: NewBatch): void {
  let level: readonly NewBatch[] = [batch];
  for (let depth = 1; level.length > 0; depth += 1) {
    requireBatchDepth(depth);
    // A batch that contains itself twice must not be followed twice.
    level = [...new Set(level.flatMap(({ batches = [] }) => batches))];
  }
}
