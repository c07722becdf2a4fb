import type { JobStatus } from '@holdfast/domain';
import { advanceBatches } from './advance-batches.ts';
import type { EndCounts } from './advance-batches.ts';
import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import { groupBy } from './group-by.ts';
import type { Queryable } from './queryable.ts';
import type { EndingGroup } from './set-aside.ts';
import { settleDependencies } from './settle-dependencies.ts';

/** How a job ends for those that wait for it. */
export type EndStatus = Extract<JobStatus, 'completed' | 'dead_letter' | 'cancelled'>;

/** The end of a job that something waits for. */
export interface Ending {
  /** A bigint as text. */
  readonly id: string;
  readonly project_id: string;
  readonly job_id: string;
  readonly status: EndStatus;
  readonly batch_id: string | null;
  readonly has_children: boolean;
}

/** What a settlement made due. */
export interface Wakes {
  readonly queueIds: Set<string>;
  /** Whether some of the unblocked jobs are for later. */
  scheduled: boolean;
  /** Something ended by it. */
  cascaded: boolean;
}

/** Which endings one transaction settles. */
export interface PageRequest {
  readonly limit: number;
  /** Groups that are left alone. */
  readonly without: readonly EndingGroup[];
  /** The only group that is wanted. */
  readonly only?: { readonly group: EndingGroup } | undefined;
  readonly wakes: Wakes;
}

/** What became of a page. */
export interface PageResult {
  readonly endings: readonly Ending[];
  /** Batches with endings that somebody else holds. */
  readonly blocked: readonly string[];
  /** Whether endings were left because somebody holds what waits for them. */
  readonly isBlocked: boolean;
  /** Whether there are more endings than were looked at. */
  readonly isFull: boolean;
  /** Nothing was settled, since this was thrown. */
  readonly error?: unknown;
}

interface EndingBatch {
  readonly project_id: string;
  readonly id: string;
  readonly ending_count: number;
  readonly is_free: boolean;
}

/**
 * Settles a page of endings in one transaction, and waits for nobody in it.
 *
 * @throws whatever happened before it was known which endings these are; later errors are part of the result
 */
export async function settlePage(database: Database, request: PageRequest): Promise<PageResult> {
  let endings: readonly Ending[] = [];
  try {
    return await database.transaction(async (tx) => {
      endings = [];
      const batches = await holdBatches(tx, request);
      const picked = await pickEndings(tx, request, batches);
      endings = picked;
      const ready = await withFreeChildren(tx, picked);
      if (ready.length > 0) await settle(tx, { database, endings: ready, wakes: request.wakes });
      const blocked = batches.flatMap(({ id, is_free }) => (is_free ? [] : [id]));
      const seen = batches.reduce((sum, { ending_count }) => sum + ending_count, 0);
      return {
        endings: ready,
        blocked,
        isBlocked: blocked.length > 0 || ready.length < picked.length,
        isFull: Math.max(seen, picked.length) >= request.limit,
      };
    });
  } catch (error) {
    if (endings.length === 0) throw error;
    return { endings, blocked: [], isBlocked: false, isFull: true, error };
  }
}

async function holdBatches(
  tx: Queryable,
  { limit, without, only }: PageRequest,
): Promise<readonly EndingBatch[]> {
  if (only !== undefined && only.group === undefined) return [];
  return tx.query<EndingBatch>(statements.holdBatches, [
    limit,
    plainArray(without.filter((group) => group !== undefined)),
    only === undefined ? null : plainArray([only.group]),
  ]);
}

function pickEndings(
  tx: Queryable,
  { limit, without, only }: PageRequest,
  batches: readonly EndingBatch[],
): Promise<readonly Ending[]> {
  const free = batches.filter(({ is_free }) => is_free);
  const takesLoose = only === undefined ? !without.includes(undefined) : only.group === undefined;
  return tx.query<Ending>(statements.pickEndings, [
    limit,
    plainArray(free.map(({ project_id }) => project_id)),
    plainArray(free.map(({ id }) => id)),
    takesLoose,
  ]);
}

/** The endings of jobs for which no job waits that somebody else has locked. */
async function withFreeChildren(
  tx: Queryable,
  endings: readonly Ending[],
): Promise<readonly Ending[]> {
  const parents = endings.filter((ending) => ending.has_children);
  if (parents.length === 0) return endings;
  const rows = await tx.query<{ project_id: string; parent_id: string }>(statements.holdChildren, [
    plainArray(parents.map((ending) => ending.project_id)),
    plainArray(parents.map((ending) => ending.job_id)),
  ]);
  const blocked = new Set(rows.map((row) => `${row.project_id}/${row.parent_id}`));
  return endings.filter(({ project_id, job_id }) => !blocked.has(`${project_id}/${job_id}`));
}

async function settle(
  tx: Queryable,
  work: {
    readonly database: Database;
    readonly endings: readonly Ending[];
    readonly wakes: Wakes;
  },
): Promise<void> {
  const { database, endings, wakes } = work;
  await tx.query(statements.removeEndings, [plainArray(endings.map(({ id }) => id))]);
  for (const [projectId, own] of groupBy(endings, (ending) => ending.project_id)) {
    const parents = own.filter((ending) => ending.has_children);
    if (parents.length > 0) await settleDependencies(tx, { projectId, parents, wakes });
    const members = own.filter((ending) => ending.batch_id !== null);
    if (members.length === 0) continue;
    const counts = await countMembers(tx, projectId, members);
    await advanceBatches(tx, { database, projectId, counts, wakes });
  }
}

/** Counts what ended by batches; callbacks are no members, but their end may be waited for as well. */
async function countMembers(
  tx: Queryable,
  projectId: string,
  members: readonly Ending[],
): Promise<ReadonlyMap<string, EndCounts>> {
  const callbacks = await tx.query<{ job_id: string }>(statements.findEndedCallbacks, [
    projectId,
    plainArray(members.map((ending) => ending.job_id)),
  ]);
  const callbackIds = new Set(callbacks.map(({ job_id }) => job_id));
  const counts = new Map<string, Record<EndStatus, number>>();
  for (const { job_id, batch_id, status } of members) {
    if (batch_id === null) continue;
    const count = counts.get(batch_id) ?? { completed: 0, dead_letter: 0, cancelled: 0 };
    counts.set(batch_id, count);
    if (!callbackIds.has(job_id)) count[status] += 1;
  }
  return counts;
}
