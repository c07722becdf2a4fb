import { HoldfastError, maxBatchDepth } from '@holdfast/domain';
import type { BatchEnqueued, NewBatch } from './batches.ts';
import { checkBatchDepth } from './check-batch-depth.ts';
import { checkBatchIds } from './check-batch-ids.ts';
import { checkBatch, queuesOfBatch } from './check-batch.ts';
import type { Database } from './database.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { insertBatchTree, insertMembers } from './insert-batch-tree.ts';
import { enqueuedBy, nothingEnqueued, startMaking, wholly } from './making.ts';
import type { Making } from './making.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueuesFor } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';
import { findMembers, findRepeated } from './repeated-batches.ts';
import { batchExists, idsOf, joined, refuseTaken } from './taken-ids.ts';

/** What is added to a batch. */
interface Addition {
  /** Of the batch. */
  readonly id: string;
  readonly jobs: readonly NewJob[];
  /** Batches that become members. */
  readonly batches?: readonly NewBatch[] | undefined;
}

/** How members are added to a batch. */
export interface AddToBatch extends Addition {
  readonly projectId: string;
  readonly tx?: Queryable | undefined;
  /** The queues of everything in it, where the caller's transaction takes the last connection. */
  readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
}

/**
 * Adds jobs and batches to a batch that has not finished, all or none. Adding the same ids again adds nothing.
 *
 * A transaction that was given has nothing of a refused addition in it and goes on. When somebody else took an id at the
 * same moment, it can only be rolled back.
 *
 * @throws HoldfastError `batch_not_found`, or `batch_not_open` when it has finished or was cancelled;
 * `batch_member_exists` when an id belongs to something else, or is given twice; and as `createBatch`
 */
export async function addToBatch(database: Database, request: AddToBatch): Promise<BatchEnqueued> {
  const { projectId, jobs, batches = [], tx } = request;
  batches.forEach(checkBatch);
  checkBatchIds(
    batches,
    jobs.map(({ id }) => id),
  );
  const names = new Set([
    ...jobs.map(({ queue }) => queue),
    ...batches.flatMap((each) => [...queuesOfBatch(each)]),
  ]);
  const queues =
    request.queues ?? (await resolveQueuesFor(tx, { database, projectId, names: [...names] }));
  return startMaking({ database, projectId, queues, mayRepeat: true, tx }, (making) =>
    insertIntoBatch(making, request),
  );
}

/**
 * The part of {@link addToBatch} that is the transaction's.
 *
 * @throws HoldfastError as that
 */
export async function insertIntoBatch(making: Making, addition: Addition): Promise<BatchEnqueued> {
  const { tx, projectId } = making;
  const { id, jobs, batches = [] } = addition;
  const refusal = await lockOpenBatch(making, id);
  const known = await findMembers(making, [{ id, jobs }]);
  const repeated = await findRepeated(making, batches, id);
  const freshJobs = jobs.filter((job) => !known.has(job.id));
  const freshBatches = batches.filter((batch) => !repeated.has(batch.id));
  const freshCount = freshJobs.length + freshBatches.length;
  if (freshCount === 0 && jobs.length + batches.length > 0) return nothingEnqueued;
  if (refusal !== undefined) throw refusal;
  // To add nothing tells whether the batch is open.
  if (freshCount === 0) return nothingEnqueued;
  await refuseTooDeep(making, id, freshBatches);
  const own = { jobs: freshJobs.map((job) => job.id), batches: [] };
  await refuseTaken(making, joined([own, ...freshBatches.map(idsOf)]));
  return wholly(making, async () => {
    await insertMembers(making, { id, jobs: freshJobs });
    let count = freshJobs.length;
    for (const batch of freshBatches) {
      if (await insertBatchTree(making, batch, id)) count += 1;
      // Somebody else has made it meanwhile.
      else if (!(await findRepeated(making, [batch], id)).has(batch.id))
        throw batchExists(batch.id);
    }
    if (count > 0) await tx.query(statements.growBatch, [projectId, id, count]);
    return count > 0 ? enqueuedBy(making) : nothingEnqueued;
  });
}

async function refuseTooDeep(
  { tx, projectId }: Making,
  id: string,
  batches: readonly NewBatch[],
): Promise<void> {
  if (batches.length === 0) return;
  const values = [projectId, id, maxBatchDepth];
  const [row] = await tx.query<{ depth: number }>(statements.findOuterDepth, values);
  for (const batch of batches) checkBatchDepth(batch, row?.depth);
}

/**
 * A batch is locked until the transaction ends; nobody settles it meanwhile. Answers why it takes no more members, if it
 * takes none.
 */
async function lockOpenBatch(
  { tx, projectId }: Making,
  id: string,
): Promise<HoldfastError | undefined> {
  const [row] = await tx.query<{ is_finished: boolean; is_cancelled: boolean }>(
    statements.lockOpenBatch,
    [projectId, id],
  );
  if (row === undefined) {
    return new HoldfastError(`There is no batch ${id}`, { code: 'batch_not_found' });
  }
  if (!row.is_finished && !row.is_cancelled) return undefined;
  const what = row.is_cancelled ? 'was cancelled' : 'has finished';
  return new HoldfastError(`The batch ${id} ${what}`, { code: 'batch_not_open' });
}
