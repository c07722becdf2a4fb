import { plainArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import type { EndStatus } from './settle-page.ts';
import { reviveBelow } from './reviving-below.ts';
import type { Revived } from './reviving-below.ts';

/**
 * Takes back what followed from the death of a job that is replayed: the jobs that it had cancelled wait again, and its
 * batch is open again. An end that nobody has settled is dropped instead.
 */
export async function reviveFollowers(
  tx: Queryable,
  request: { readonly projectId: string; readonly job: Revived },
): Promise<void> {
  const { projectId } = request;
  // From here on nobody settles what the batch's jobs ended as.
  const { batchId } = request.job;
  if (batchId !== undefined) await tx.query(statements.holdBatch, [projectId, batchId]);
  await takeBack(tx, { projectId, jobs: [request.job], status: 'dead_letter' });
  if (!request.job.hasChildren) return;
  const revived = await reviveBelow(tx, projectId, request.job.id);
  if (revived.length > 0) await takeBack(tx, { projectId, jobs: revived, status: 'cancelled' });
}

interface TakingBack {
  readonly projectId: string;
  readonly jobs: readonly Revived[];
  /** How they had ended. */
  readonly status: EndStatus;
}

/** Drops the ends that nobody has settled, and takes the others off the counts of their batches. */
async function takeBack(tx: Queryable, work: TakingBack): Promise<void> {
  const { projectId, jobs } = work;
  const dropped = await dropEndings(tx, projectId, jobs);
  await reopenBatches(tx, { ...work, jobs: jobs.filter(({ id }) => !dropped.has(id)) });
}

async function dropEndings(
  tx: Queryable,
  projectId: string,
  jobs: readonly Revived[],
): Promise<ReadonlySet<string>> {
  const ids = plainArray(jobs.map(({ id }) => id));
  const rows = await tx.query<{ id: string }>(statements.dropEndings, [projectId, ids]);
  return new Set(rows.map(({ id }) => id));
}

async function reopenBatches(tx: Queryable, work: TakingBack): Promise<void> {
  const { projectId, status } = work;
  const inBatch = work.jobs.filter((job) => job.batchId !== undefined);
  if (inBatch.length === 0) return;
  const members = await tx.query<{ batch_id: string }>(statements.findMemberships, [
    projectId,
    plainArray(inBatch.map(({ id }) => id)),
    plainArray(inBatch.map(({ batchId }) => batchId)),
  ]);
  const counts = new Map<string, number>();
  for (const { batch_id } of members) counts.set(batch_id, (counts.get(batch_id) ?? 0) + 1);
  for (const [id, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await reopenBatch(tx, { projectId, id, status, count });
  }
}

interface Reopening {
  readonly projectId: string;
  readonly id: string;
  readonly status: EndStatus;
  readonly count: number;
}

/** An outer batch that was told of the end of this one is open again too. */
async function reopenBatch(tx: Queryable, reopening: Reopening): Promise<void> {
  const { projectId, id, status, count } = reopening;
  const by = (which: EndStatus): number => (which === status ? count : 0);
  const [row] = await tx.query<{ parent_id: string | null; reported_status: EndStatus | null }>(
    statements.reopenBatch,
    [projectId, id, by('completed'), by('dead_letter'), by('cancelled')],
  );
  const outer = row?.parent_id ?? undefined;
  const told = row?.reported_status ?? undefined;
  if (outer === undefined || told === undefined) return;
  await tx.query(statements.holdBatch, [projectId, outer]);
  const dropped = await dropEndings(tx, projectId, [{ id, batchId: outer, hasChildren: false }]);
  if (dropped.has(id)) return;
  await reopenBatch(tx, { projectId, id: outer, status: told, count: 1 });
}
