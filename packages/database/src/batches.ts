import type { BatchKind, CallbackRole, OnParentFailure } from '@holdfast/domain';
import { insertIntoBatch } from './add-to-batch.ts';
import { checkBatch, queuesOfBatch } from './check-batch.ts';
import type { Database } from './database.ts';
import type { NewJob } from './enqueue.ts';
import { insertBatchTree } from './insert-batch-tree.ts';
import type { JobTemplate } from './job-template.ts';
import { enqueuedBy, nothingEnqueued, startMaking, wholly } from './making.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueuesFor } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';
import { findRepeated } from './repeated-batches.ts';
import { batchExists, idsOf, refuseTaken } from './taken-ids.ts';

/** One job waits for another. */
export interface NewDependency {
  readonly parentId: string;
  readonly childId: string;
  readonly onFailure: OnParentFailure;
}

/** A job that a batch makes when its moment comes. */
export interface NewCallback {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it, 1 to 100. */
  readonly percent?: number | undefined;
  /** The id that its job gets. */
  readonly jobId: string;
  readonly job: JobTemplate;
}

/** A batch to be made, with all that is in it. */
export interface NewBatch {
  /** A UUID made by the caller; making the same id twice makes one batch. */
  readonly id: string;
  readonly kind: BatchKind;
  readonly name?: string | undefined;
  /** Dead and cancelled members do not keep `then` from coming. */
  readonly allowFailures?: boolean | undefined;
  readonly jobs: readonly NewJob[];
  /** Batches that are members of this one. */
  readonly batches?: readonly NewBatch[] | undefined;
  /** Between jobs of this batch. */
  readonly dependencies?: readonly NewDependency[] | undefined;
  readonly callbacks?: readonly NewCallback[] | undefined;
}

/** What making or growing a batch did, and whom to wake after its commit. */
export interface BatchEnqueued {
  /** False when the batch, or each of the jobs, was there already. */
  readonly isNew: boolean;
  readonly queueIds: readonly string[];
  readonly scheduled: boolean;
}

/** How a batch is made. */
export interface CreateBatch {
  readonly projectId: string;
  readonly batch: NewBatch;
  /** The batch that it becomes a member of; it must be open. */
  readonly parentId?: string | undefined;
  readonly tx?: Queryable | undefined;
  /** The queues of everything in it, where the caller's transaction takes the last connection. */
  readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
  /** That some of the jobs have ids that may have been used before. */
  readonly mayRepeat?: boolean | undefined;
}

/**
 * Makes a batch with its jobs and the batches in it, all or none.
 *
 * A transaction that was given has nothing of a refused batch in it and goes on. When somebody else took an id at the same
 * moment, it can only be rolled back.
 *
 * @throws HoldfastError `batch_not_open` or `batch_not_found` when there is no outer batch that takes more members;
 * `batch_member_exists` when a job or a batch has an id that is taken, or is given twice, also the batch itself unless an
 * earlier call made the same; `graph_invalid` for
 * edges that make a cycle, lead out of the batch or are too many; `batch_too_deep`
 */
export async function createBatch(
  database: Database,
  request: CreateBatch,
): Promise<BatchEnqueued> {
  const { projectId, batch, parentId, mayRepeat = false } = request;
  checkBatch(batch);
  // Before the transaction: to look queues up takes a connection of its own.
  const queues =
    request.queues ??
    (await resolveQueuesFor(request.tx, { database, projectId, names: [...queuesOfBatch(batch)] }));
  return startMaking({ database, projectId, queues, mayRepeat, tx: request.tx }, async (making) => {
    if (parentId !== undefined) {
      return insertIntoBatch(making, { id: parentId, jobs: [], batches: [batch] });
    }
    // Ids that no caller has chosen are new, and a transaction of our own forgets what it began.
    if (making.isCallers || mayRepeat) {
      if ((await findRepeated(making, [batch])).has(batch.id)) return nothingEnqueued;
      await refuseTaken(making, idsOf(batch));
    }
    const isNew = await wholly(making, () => insertBatchTree(making, batch, undefined));
    if (isNew) return enqueuedBy(making);
    if ((await findRepeated(making, [batch])).has(batch.id)) return nothingEnqueued;
    throw batchExists(batch.id);
  });
}
