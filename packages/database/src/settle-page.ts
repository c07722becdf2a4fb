import type { JobStatus } from '@holdfast/domain';
import { advanceBatches } from './advance-batches.ts';
import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import { groupBy } from './group-by.ts';
import type { RenamedCallback } from './make-callbacks.ts';
import type { Queryable } from './queryable.ts';
import type { EndingGroup } from './set-aside.ts';
import { settleDependencies } from './settle-dependencies.ts';

/** How a job ends for those that wait for it. */
export type EndStatus = Extract<JobStatus, 'completed' | 'dead_letter' | 'cancelled'>;

/** The end of a job that other jobs wait for. */
export interface ParentEnding {
  /** A bigint as text. */
  readonly id: string;
  readonly project_id: string;
  readonly job_id: string;
  readonly status: EndStatus;
  readonly batch_id: string | null;
}

/** What a settlement made due. */
export interface Wakes {
  readonly queueIds: Set<string>;
  /** Whether some of the unblocked jobs are for later. */
  scheduled: boolean;
  /** Something ended by it. */
  cascaded: boolean;
  /** By the id that was taken. */
  readonly renamed: Map<string, RenamedCallback>;
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
  /** How many endings were settled. */
  readonly count: number;
  /** The groups that they belong to, or would have. */
  readonly groups: readonly EndingGroup[];
  /** One of them. */
  readonly first: { readonly id: string; readonly jobId: string } | undefined;
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
  /** Of endings in no batch, nothing. */
  readonly id: string | null;
  readonly ending_count: number;
  readonly is_free: boolean;
}

interface MemberEndings {
  readonly project_id: string;
  readonly batch_id: string;
  readonly ending_count: number;
  /** Of those that other jobs wait for, which were not taken. */
  readonly parent_count: number;
  readonly completed_count: number;
  readonly dead_letter_count: number;
  readonly cancelled_count: number;
  readonly first_id: string;
  readonly first_job_id: string;
}

/** The endings of a transaction. */
interface Taken {
  readonly members: readonly MemberEndings[];
  readonly parents: readonly ParentEnding[];
  /** Whether endings of parents were left to somebody else. */
  readonly isBlocked: boolean;
}

const nothing: Taken = { members: [], parents: [], isBlocked: false };

/**
 * Settles a page of endings in one transaction, and waits for nobody in it.
 *
 * @throws whatever happened before it was known which endings these are; later errors are part of the result
 */
export async function settlePage(database: Database, request: PageRequest): Promise<PageResult> {
  let taken = nothing;
  try {
    return await database.transaction(async (tx) => {
      taken = nothing;
      const batches = await holdBatches(tx, request);
      taken = await take(tx, request, batches);
      await settle(tx, { database, taken, wakes: request.wakes });
      const blocked = batches.flatMap(({ id, is_free }) => (is_free || id === null ? [] : [id]));
      const seen = batches.reduce((sum, { ending_count }) => sum + ending_count, 0);
      return {
        ...describe(taken),
        blocked,
        isBlocked: blocked.length > 0 || taken.isBlocked,
        isFull: seen >= request.limit,
      };
    });
  } catch (error) {
    if (countOf(taken) === 0) throw error;
    return { ...describe(taken), count: 0, blocked: [], isBlocked: false, isFull: true, error };
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
    only === undefined && !without.includes(undefined),
  ]);
}

async function take(
  tx: Queryable,
  { limit, only }: PageRequest,
  batches: readonly EndingBatch[],
): Promise<Taken> {
  const held = batches.filter(({ id, is_free }) => is_free && id !== null);
  const keys = [
    plainArray(held.map(({ project_id }) => project_id)),
    plainArray(held.map(({ id }) => id ?? undefined)),
  ];
  const members =
    held.length === 0
      ? []
      : await tx.query<MemberEndings>(statements.takeMemberEndings, [limit, ...keys]);
  const takesLoose =
    only === undefined ? batches.some(({ id }) => id === null) : only.group === undefined;
  // A page of one is for finding out which ending it is that fails.
  const isSingle = limit === 1 && members.some(({ ending_count }) => ending_count > 0);
  const hasParents = members.some(({ parent_count }) => parent_count > 0);
  if (isSingle || !(hasParents || takesLoose)) return { ...nothing, members };
  const picked = await tx.query<ParentEnding>(statements.pickParentEndings, [
    ...[limit, ...keys],
    takesLoose,
  ]);
  const parents = await withFreeChildren(tx, picked);
  return { members, parents, isBlocked: parents.length < picked.length };
}

/** The endings of jobs for which no job waits that somebody else has locked; takes them away. */
async function withFreeChildren(
  tx: Queryable,
  endings: readonly ParentEnding[],
): Promise<readonly ParentEnding[]> {
  if (endings.length === 0) return [];
  const rows = await tx.query<{ project_id: string; parent_id: string }>(statements.holdChildren, [
    plainArray(endings.map((ending) => ending.project_id)),
    plainArray(endings.map((ending) => ending.job_id)),
    plainArray(endings.map((ending) => ending.status)),
  ]);
  const blocked = new Set(rows.map((row) => `${row.project_id}/${row.parent_id}`));
  const free = endings.filter(({ project_id, job_id }) => !blocked.has(`${project_id}/${job_id}`));
  await tx.query(statements.removeEndings, [plainArray(free.map(({ id }) => id))]);
  return free;
}

async function settle(
  tx: Queryable,
  work: { readonly database: Database; readonly taken: Taken; readonly wakes: Wakes },
): Promise<void> {
  const { database, taken, wakes } = work;
  const parentsOf = groupBy(taken.parents, (ending) => ending.project_id);
  const membersOf = groupBy(taken.members, (row) => row.project_id);
  for (const projectId of new Set([...parentsOf.keys(), ...membersOf.keys()])) {
    const parents = parentsOf.get(projectId) ?? [];
    if (parents.length > 0) await settleDependencies(tx, { projectId, parents, wakes });
    const counts = countEnds(membersOf.get(projectId) ?? [], parents);
    if (counts.size > 0) await advanceBatches(tx, { database, projectId, counts, wakes });
  }
}

/** How the members of each batch ended; no job waits for a callback. */
function countEnds(
  members: readonly MemberEndings[],
  parents: readonly ParentEnding[],
): ReadonlyMap<string, Readonly<Record<EndStatus, number>>> {
  const counts = new Map<string, Record<EndStatus, number>>();
  for (const row of members) {
    if (row.ending_count === 0) continue;
    counts.set(row.batch_id, {
      completed: row.completed_count,
      dead_letter: row.dead_letter_count,
      cancelled: row.cancelled_count,
    });
  }
  for (const { batch_id, status } of parents) {
    if (batch_id === null) continue;
    const count = counts.get(batch_id) ?? { completed: 0, dead_letter: 0, cancelled: 0 };
    counts.set(batch_id, count);
    count[status] += 1;
  }
  return counts;
}

function countOf({ members, parents }: Taken): number {
  return members.reduce((sum, { ending_count }) => sum + ending_count, parents.length);
}

function describe(taken: Taken): Pick<PageResult, 'count' | 'groups' | 'first'> {
  const members = taken.members.filter(({ ending_count }) => ending_count > 0);
  const [member] = members;
  const [parent] = taken.parents;
  const groups = [
    ...members.map((row): EndingGroup => row.batch_id),
    ...taken.parents.map((ending): EndingGroup => ending.batch_id ?? undefined),
  ];
  return {
    count: countOf(taken),
    groups: [...new Set(groups)],
    first:
      member === undefined
        ? parent && { id: parent.id, jobId: parent.job_id }
        : { id: member.first_id, jobId: member.first_job_id },
  };
}
