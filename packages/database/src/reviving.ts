import { plainArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import { reacquireUniqueKeys } from './unique-locks.ts';

/** A job that lives again, as its row says. */
export interface Revived {
  readonly id: string;
  readonly batchId: string | undefined;
  readonly hasChildren: boolean;
}

type EndStatus = 'completed' | 'dead_letter' | 'cancelled';

/**
 * Takes back what followed from the death of a job that is replayed: the jobs that it had cancelled wait again, and its
 * batch is open again. An end that nobody has settled is dropped instead.
 *
 * A job that two dead parents had cancelled waits for both again.
 */
export async function reviveFollowers(
  tx: Queryable,
  request: { readonly projectId: string; readonly job: Revived },
): Promise<void> {
  const { projectId } = request;
  // From here on nobody settles what the batch's jobs ended as.
  const { batchId } = request.job;
  if (batchId !== undefined) await tx.query(statements.holdBatch, [projectId, batchId]);
  let level: readonly Revived[] = [request.job];
  let status: EndStatus = 'dead_letter';
  while (level.length > 0) {
    const dropped = await dropEndings(tx, projectId, level);
    const settled = level.filter((job) => !dropped.has(job.id));
    await reopenBatches(tx, { projectId, jobs: settled, status });
    level = await reviveChildren(
      tx,
      projectId,
      settled.filter((job) => job.hasChildren),
    );
    status = 'cancelled';
  }
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

async function reopenBatches(
  tx: Queryable,
  work: {
    readonly projectId: string;
    readonly jobs: readonly Revived[];
    readonly status: EndStatus;
  },
): Promise<void> {
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

/** Answers the children that wait again. */
async function reviveChildren(
  tx: Queryable,
  projectId: string,
  parents: readonly Revived[],
): Promise<readonly Revived[]> {
  if (parents.length === 0) return [];
  const edges = await tx.query<{ child_id: string; on_failure: 'cancel' | 'wait' }>(
    statements.reopenDependencies,
    [projectId, plainArray(parents.map(({ id }) => id))],
  );
  const cancelled = edges.filter((edge) => edge.on_failure === 'cancel');
  const ids = [...new Set(cancelled.map((edge) => edge.child_id))];
  if (ids.length === 0) return [];
  const counts = await tx.query<{ id: string; parent_count: number }>(statements.countOpenParents, [
    projectId,
    plainArray(ids),
  ]);
  // A child whose unique key another job has taken stays cancelled.
  const held = await reacquireUniqueKeys(tx, { projectId, ids });
  const free = counts.filter(({ id }) => !held.has(id));
  const rows = await tx.query<{ id: string; batch_id: string | null; has_children: boolean }>(
    statements.reviveJobs,
    [
      projectId,
      plainArray(free.map(({ id }) => id)),
      plainArray(free.map((row) => row.parent_count)),
    ],
  );
  return rows.map((row) => ({
    id: row.id,
    batchId: row.batch_id ?? undefined,
    hasChildren: row.has_children,
  }));
}
