import { checkGraph, HoldfastError } from '@holdfast/domain';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that the edges of a batch can be followed to their end, and are not too many.
 *
 * @throws HoldfastError `graph_invalid`
 */
export function checkDependencies({ kind, jobs, dependencies = [] }: NewBatch): void {
  // The size of a batch has no bound, that of a graph has one even if no job waits for another.
  if (kind === 'batch' && dependencies.length === 0) return;
  const problem = checkGraph(
    jobs.map(({ id }) => id),
    dependencies.map(({ parentId, childId }) => ({ parent: parentId, child: childId })),
  );
  if (problem === undefined) return;
  throw new HoldfastError(problem.message, { code: 'graph_invalid' });
}
