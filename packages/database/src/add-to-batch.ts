import { HoldfastError } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { BatchEnqueued, NewBatch } from './batches.ts';
import { checkBatchIds } from './check-batch-ids.ts';
import { checkBatch, queuesOfBatch } from './check-batch.ts';
import type { Database } from './database.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { insertBatchTree, insertMembers } from './insert-batch-tree.ts';
import { enqueuedBy, nothingEnqueued, startMaking, wholly } from './making.ts';
import type { Making } from './making.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueues } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';
import { findBatches, idsWithin, joined, refuseTaken } from './taken-ids.ts';

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
  const queues = request.queues ?? (await resolveQueues(database, projectId, [...names]));
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
  const knownJobs = await findMembers(making, addition);
  const knownBatches = await findBatches(
    making,
    batches.map((batch) => batch.id),
  );
  const freshJobs = jobs.filter((job) => !knownJobs.has(job.id));
  const freshBatches = batches.filter((batch) => !knownBatches.has(batch.id));
  const freshCount = freshJobs.length + freshBatches.length;
  if (freshCount === 0 && jobs.length + batches.length > 0) return nothingEnqueued;
  if (refusal !== undefined) throw refusal;
  // To add nothing tells whether the batch is open.
  if (freshCount === 0) return nothingEnqueued;
  const own = { jobs: freshJobs.map((job) => job.id), batches: [] };
  await refuseTaken(making, joined([own, ...freshBatches.map(idsWithin)]));
  return wholly(making, async () => {
    await insertMembers(making, { id, jobs: freshJobs });
    let count = freshJobs.length;
    for (const batch of freshBatches) {
      // Somebody else may have made it meanwhile.
      if (await insertBatchTree(making, batch, id)) count += 1;
    }
    if (count > 0) await tx.query(statements.growBatch, [projectId, id, count]);
    return count > 0 ? enqueuedBy(making) : nothingEnqueued;
  });
}

/** The ids that an earlier call has added. */
async function findMembers(
  { tx, projectId }: Making,
  { id, jobs }: Addition,
): Promise<ReadonlySet<string>> {
  if (jobs.length === 0) return new Set();
  const ids = plainArray(jobs.map((job) => job.id));
  const rows = await tx.query<{ id: string }>(statements.findMembers, [projectId, id, ids]);
  return new Set(rows.map((row) => row.id));
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
