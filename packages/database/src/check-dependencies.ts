import { checkGraph, HoldfastError } from '@holdfast/domain';
import type { NewBatch } from './batches.ts';

/**
 * Makes sure that the edges of a batch can be followed to their end.
 *
 * @throws HoldfastError `graph_invalid`
 */
export function checkDependencies({ jobs, dependencies = [] }: NewBatch): void {
  if (dependencies.length === 0) return;
  const problem = checkGraph(
    jobs.map(({ id }) => id),
    dependencies.map(({ parentId, childId }) => ({ parent: parentId, child: childId })),
  );
  if (problem === undefined) return;
  throw new HoldfastError(problem.message, { code: 'graph_invalid' });
}
