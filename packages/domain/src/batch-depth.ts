import { HoldfastError } from './errors.ts';

/** How many levels of batches in each other there are at most, the outermost one counted. */
export const maxBatchDepth = 100;

/**
 * Makes sure that batches in each other are not too many levels deep.
 *
 * @param depth of the innermost batch; the outermost one has 1
 * @throws HoldfastError `batch_too_deep`
 */
export function requireBatchDepth(depth: number): void {
  if (depth <= maxBatchDepth) return;
  const message = `Batches in each other are at most ${String(maxBatchDepth)} levels deep`;
  throw new HoldfastError(message, { code: 'batch_too_deep' });
}
