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

/** A job that was cancelled because a parent of it had ended badly. */
interface Cancelled {
  readonly id: string;
  readonly has_key: boolean;
  /** Of these parents none may stay as it ended, if the job is to live. */
  readonly parent_ids: readonly string[];
}

/**
 * Lets everything wait again that was cancelled because of the death of a job that is replayed.
 *
 * A job stays cancelled while another parent forbids it to run: one that is dead still, or that was cancelled and is not
 * revived here. It lives again with the last of them that is replayed.
 *
 * @returns these jobs
 */
export async function reviveBelow(
  tx: Queryable,
  projectId: string,
  parentId: string,
): Promise<readonly Revived[]> {
  const cancelled = await tx.query<Cancelled>(statements.listCancelledBelow, [projectId, parentId]);
  let ids = revivable(cancelled, parentId);
  const keyed = cancelled.filter(({ id, has_key }) => has_key && ids.has(id)).map(({ id }) => id);
  if (keyed.length > 0) {
    // A job whose unique key another one has taken stays cancelled, and so does what is below it.
    const held = await reacquireUniqueKeys(tx, { projectId, ids: keyed });
    const free = cancelled.filter(({ id }) => !held.has(id));
    ids = revivable(free, parentId);
  }
  const living = plainArray([parentId, ...ids]);
  await tx.query(statements.reopenDependencies, [projectId, living]);
  return ids.size === 0 ? [] : revive(tx, projectId, [...ids]);
}

/** Those of the jobs that no parent forbids to run but the replayed one, and such as live again themselves. */
function revivable(cancelled: readonly Cancelled[], replayedId: string): ReadonlySet<string> {
  const ids = new Set(cancelled.map(({ id }) => id));
  const lives = (id: string): boolean => id === replayedId || ids.has(id);
  let before: number;
  do {
    before = ids.size;
    for (const { id, parent_ids } of cancelled) if (!parent_ids.every(lives)) ids.delete(id);
  } while (ids.size < before);
  return ids;
}

async function revive(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<readonly Revived[]> {
  const counts = await tx.query<{ id: string; parent_count: number }>(statements.countOpenParents, [
    projectId,
    plainArray(ids),
  ]);
  const rows = await tx.query<{ id: string; batch_id: string | null; has_children: boolean }>(
    statements.reviveJobs,
    [
      projectId,
      plainArray(counts.map(({ id }) => id)),
      plainArray(counts.map((row) => row.parent_count)),
    ],
  );
  return rows.map((row) => ({
    id: row.id,
    batchId: row.batch_id ?? undefined,
    hasChildren: row.has_children,
  }));
}
