import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import type { ParentEnding, Wakes } from './settle-page.ts';

interface EndedEdge {
  readonly parent_id: string;
  readonly child_id: string;
  readonly on_failure: 'cancel' | 'run' | 'wait';
  readonly state: 'satisfied' | 'broken';
}

interface Work {
  readonly projectId: string;
  readonly parents: readonly ParentEnding[];
  readonly wakes: Wakes;
}

/** Unblocks, postpones or cancels the jobs that waited for the ended ones. */
export async function settleDependencies(tx: Queryable, work: Work): Promise<void> {
  const { projectId, parents, wakes } = work;
  const edges = await tx.query<EndedEdge>(statements.settleDependencies, [
    projectId,
    plainArray(parents.map((ending) => ending.job_id)),
    plainArray(parents.map((ending) => ending.status)),
  ]);
  const isPassed = (edge: EndedEdge) => edge.state === 'satisfied' || edge.on_failure === 'run';
  const counts = new Map<string, number>();
  for (const edge of edges.filter(isPassed)) {
    counts.set(edge.child_id, (counts.get(edge.child_id) ?? 0) + 1);
  }
  if (counts.size > 0) await countDown(tx, { projectId, counts, wakes });
  const doomed = edges.filter((edge) => !isPassed(edge) && edge.on_failure === 'cancel');
  if (doomed.length > 0) await cancelChildren(tx, { ...work, doomed });
}

async function countDown(
  tx: Queryable,
  work: {
    readonly projectId: string;
    readonly counts: ReadonlyMap<string, number>;
    readonly wakes: Wakes;
  },
): Promise<void> {
  const { projectId, counts, wakes } = work;
  const rows = await tx.query<{ id: string; left_count: number; delay_ms: number }>(
    statements.countDownParents,
    [projectId, plainArray([...counts.keys()]), plainArray([...counts.values()])],
  );
  const free = rows.filter((row) => row.left_count <= 0);
  const due = free.filter((row) => row.delay_ms <= 0);
  const later = free.filter((row) => row.delay_ms > 0);
  if (due.length > 0) {
    const values = [projectId, plainArray(due.map(({ id }) => id))];
    const queued = await tx.query<{ queue_id: string }>(statements.unblockJobs, values);
    for (const row of queued) wakes.queueIds.add(row.queue_id);
  }
  if (later.length > 0) {
    const ids = plainArray(later.map(({ id }) => id));
    const delays = plainArray(later.map((row) => row.delay_ms));
    await tx.query(statements.postponeUnblockedJobs, [projectId, ids, delays]);
    wakes.scheduled = true;
  }
}

/** A child is cancelled once, however many of its parents died. What is below it is among the doomed as well. */
async function cancelChildren(
  tx: Queryable,
  work: Work & { readonly doomed: readonly EndedEdge[] },
): Promise<void> {
  const statusOf = new Map(work.parents.map((ending) => [ending.job_id, ending.status]));
  const errors = new Map(
    work.doomed.map(({ child_id, parent_id }) => [
      child_id,
      JSON.stringify({
        code: 'parent_failed',
        message: `Its parent ${parent_id} ended as ${statusOf.get(parent_id) ?? 'cancelled'}`,
        fingerprint: 'parent_failed',
      }),
    ]),
  );
  const cancelled = await tx.query(statements.cancelJobs, [
    work.projectId,
    plainArray([...errors.keys()]),
    'parent_failed',
    textArray([...errors.values()]),
  ]);
  if (cancelled.length > 0) work.wakes.cascaded = true;
}
