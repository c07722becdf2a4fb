import { plainArray } from './array-literal.ts';
import type { NewBatch } from './batches.ts';
import { statements } from './generated/statements.ts';
import type { Making } from './making.ts';

interface BatchRow {
  readonly id: string;
  readonly parent_id: string | null;
  readonly kind: string;
  readonly total_count: number;
}

/** A batch that was given, and the one that has its id. */
interface Pair {
  readonly batch: NewBatch;
  readonly row: BatchRow;
  readonly parentId: string | undefined;
  /** The id of the given batch that it is in, or is. */
  readonly rootId: string;
}

/**
 * Which of the batches an earlier call has made: they are where they should be, and have the members and callbacks that are
 * asked for, as far as retention has left any. Later members do not matter.
 *
 * @param parentId the batch that they are to be members of; none for outermost ones
 */
export async function findRepeated(
  making: Making,
  batches: readonly NewBatch[],
  parentId?: string,
): Promise<ReadonlySet<string>> {
  const rows = await findBatches(making, batches);
  const found = batches.flatMap((batch): readonly Pair[] => {
    const row = rows.get(batch.id);
    return row === undefined ? [] : [{ batch, row, parentId, rootId: batch.id }];
  });
  const others = new Set<string>();
  for (let level = found; level.length > 0;) {
    const { different, inner } = await compare(making, level);
    for (const { rootId } of different) others.add(rootId);
    level = inner.filter(({ rootId }) => !others.has(rootId));
  }
  return new Set(found.map(({ rootId }) => rootId).filter((id) => !others.has(id)));
}

/** Which jobs are members of the batches that they are given with, ended or not. */
export async function findMembers(
  { tx, projectId }: Making,
  batches: readonly Pick<NewBatch, 'id' | 'jobs'>[],
): Promise<ReadonlySet<string>> {
  const members = batches.flatMap(({ id, jobs }) =>
    jobs.map((job) => ({ batchId: id, id: job.id })),
  );
  if (members.length === 0) return new Set();
  const rows = await tx.query<{ readonly id: string }>(statements.findMembers, [
    projectId,
    plainArray(members.map(({ batchId }) => batchId)),
    plainArray(members.map(({ id }) => id)),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Finds out which of one level are not what they were asked to be, and what is on the next level. */
async function compare(
  making: Making,
  level: readonly Pair[],
): Promise<{ readonly different: readonly Pair[]; readonly inner: readonly Pair[] }> {
  const batches = level.map(({ batch }) => batch);
  const members = await findMembers(making, batches);
  const rows = await findBatches(
    making,
    batches.flatMap((batch) => batch.batches ?? []),
  );
  const callbacks = await findCallbacks(making, batches);
  const missing = new Map<Pair, number>();
  for (const pair of level) {
    const { jobs, batches: inner = [] } = pair.batch;
    const ids = [...jobs, ...inner].map(({ id }) => id);
    const count = ids.filter((id) => !members.has(id) && !rows.has(id)).length;
    if (count > 0) missing.set(pair, count);
  }
  const gone = await countGone(making, [...missing.keys()]);
  const isDifferent = (pair: Pair): boolean =>
    pair.row.parent_id !== (pair.parentId ?? null) ||
    pair.row.kind !== pair.batch.kind ||
    callbackKeys(pair.batch).some((key) => !callbacks.has(key)) ||
    (missing.get(pair) ?? 0) > (gone.get(pair.row.id) ?? 0);
  const inner = level.flatMap(({ batch: { id, batches: given = [] }, rootId }) =>
    given.flatMap((batch): readonly Pair[] => {
      const row = rows.get(batch.id);
      return row === undefined ? [] : [{ batch, row, parentId: id, rootId }];
    }),
  );
  return { different: level.filter(isDifferent), inner };
}

async function findBatches(
  { tx, projectId }: Making,
  batches: readonly NewBatch[],
): Promise<ReadonlyMap<string, BatchRow>> {
  if (batches.length === 0) return new Map();
  const values = [projectId, plainArray(batches.map(({ id }) => id))];
  const rows = await tx.query<BatchRow>(statements.findBatches, values);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Not by the ids of their jobs: one whose id was taken has another. */
function callbackKeys({ id, callbacks = [] }: NewBatch): readonly string[] {
  return callbacks.map(({ role, percent = 0 }) => `${id}/${role}/${String(percent)}`);
}

async function findCallbacks(
  { tx, projectId }: Making,
  batches: readonly NewBatch[],
): Promise<ReadonlySet<string>> {
  const ids = batches.filter(({ callbacks = [] }) => callbacks.length > 0).map(({ id }) => id);
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{
    readonly batch_id: string;
    readonly role: string;
    readonly percent: number;
  }>(statements.listOpenCallbacks, [projectId, plainArray(ids)]);
  return new Set(rows.map((row) => `${row.batch_id}/${row.role}/${String(row.percent)}`));
}

/** How many members of each batch retention has taken away, by its id. */
async function countGone(
  { tx, projectId }: Making,
  pairs: readonly Pair[],
): Promise<ReadonlyMap<string, number>> {
  if (pairs.length === 0) return new Map();
  const rows = await tx.query<{ readonly id: string; readonly kept_count: number }>(
    statements.countKeptMembers,
    [projectId, plainArray(pairs.map(({ row }) => row.id))],
  );
  const kept = new Map(rows.map((row) => [row.id, row.kept_count]));
  return new Map(pairs.map(({ row }) => [row.id, row.total_count - (kept.get(row.id) ?? 0)]));
}
