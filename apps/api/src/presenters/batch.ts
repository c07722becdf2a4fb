import type { Batch, BatchSummary, Graph } from '@holdfast/contract';
import type { BatchJobView, BatchView, DependencyView } from '@holdfast/database';
import { presentMaybe, presentInstant } from './instant.ts';

/** A batch as in lists. */
export function presentBatchSummary(batch: BatchView): BatchSummary {
  return {
    id: batch.id,
    kind: batch.kind,
    name: batch.name ?? null,
    parentId: batch.parentId ?? null,
    allowFailures: batch.allowFailures,
    status: batch.status,
    counts: batch.counts,
    createdAt: presentInstant(batch.createdAt),
    finishedAt: presentMaybe(batch.finishedAt),
    cancelledAt: presentMaybe(batch.cancelledAt),
  };
}

/** A batch with its callbacks. */
export function presentBatch(batch: BatchView): Batch {
  return {
    ...presentBatchSummary(batch),
    callbacks: batch.callbacks.map(({ role, percent, jobId, type, enqueuedAt, endedAt }) => ({
      ...{ role, jobId, type },
      percent: percent ?? null,
      enqueuedAt: presentMaybe(enqueuedAt),
      endedAt: presentMaybe(endedAt),
    })),
  };
}

/** A batch with what its jobs wait for. */
export function presentGraph(
  batch: BatchView,
  {
    jobs,
    edges,
  }: { readonly jobs: readonly BatchJobView[]; readonly edges: readonly DependencyView[] },
): Graph {
  return {
    ...presentBatch(batch),
    nodes: jobs.map(({ id, type, status }) => ({ jobId: id, type, status })),
    edges: edges.map(presentEdge),
  };
}

function presentEdge({ onFailure, ...edge }: DependencyView): Graph['edges'][number] {
  return { ...edge, onParentFailure: onFailure };
}
