import { batchCounts, decideBatch } from '@holdfast/domain';
import type {
  BatchCounts,
  BatchDecision,
  BatchState,
  CallbackRole,
  CallbackState,
} from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { makeCallbacks } from './make-callbacks.ts';
import type { DueCallback } from './make-callbacks.ts';
import { announceEvents } from './events.ts';
import type { Announcement } from './events.ts';
import { statements } from './generated/statements.ts';
import { groupBy } from './group-by.ts';
import type { Queryable } from './queryable.ts';
import type { QueueEntry } from './queue-directory.ts';
import type { EndStatus, Wakes } from './settle-page.ts';

/** How many members ended, by how. */
export type EndCounts = Readonly<Record<EndStatus, number>>;

/** What is to be added to batches that the transaction holds. */
export interface Advance {
  readonly database: Database;
  readonly projectId: string;
  readonly counts: ReadonlyMap<string, EndCounts>;
  readonly wakes: Wakes;
  /** The queues of the callbacks, where the transaction cannot look them up itself. */
  readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
}

interface BatchRow {
  readonly id: string;
  readonly kind: string;
  readonly name: string | null;
  readonly parent_id: string | null;
  readonly allow_failures: boolean;
  readonly total_count: number;
  readonly completed_count: number;
  readonly dead_letter_count: number;
  readonly cancelled_count: number;
  readonly is_cancelled: boolean;
  readonly is_finished: boolean;
}

interface CallbackRow {
  readonly batch_id: string;
  readonly role: CallbackRole;
  readonly percent: number;
  readonly job_id: string;
  readonly is_enqueued: boolean;
  readonly has_ended: boolean;
  /** JSON text of the template, while it is needed. */
  readonly job: string | null;
}

interface Callback extends CallbackState {
  readonly jobId: string;
  readonly jobJson: string | null;
}

interface Decided {
  readonly row: BatchRow;
  readonly decision: BatchDecision<Callback>;
}

/** Adds to the counts of batches and does what follows from them. A batch that is gone is left out. */
export async function advanceBatches(tx: Queryable, work: Advance): Promise<void> {
  const { projectId, counts } = work;
  const ids = plainArray([...counts.keys()]);
  const column = (status: EndStatus) =>
    plainArray([...counts.values()].map((each) => each[status]));
  const batches = await tx.query<BatchRow>(statements.countBatchEnds, [
    projectId,
    ids,
    ...[column('completed'), column('dead_letter'), column('cancelled')],
  ]);
  const rows = await tx.query<CallbackRow>(statements.listOpenCallbacks, [projectId, ids]);
  const callbacks = groupBy(rows, (row) => row.batch_id);
  const decided = batches.map((row) => {
    const own = callbacks.get(row.id) ?? [];
    return { row, decision: decideBatch(toState(row, own)) };
  });
  const due = decided.flatMap(({ row, decision }) =>
    decision.enqueue.map((each): DueCallback => ({ ...each, batchId: row.id })),
  );
  await makeCallbacks(tx, work, due);
  await noteEnds(tx, work, decided);
}

async function noteEnds(
  tx: Queryable,
  { projectId, wakes }: Advance,
  decided: readonly Decided[],
): Promise<void> {
  const finished = decided.filter(({ row, decision }) => decision.isFinished && !row.is_finished);
  if (finished.length > 0) {
    const finishedIds = plainArray(finished.map(({ row }) => row.id));
    await tx.query(statements.markBatchesFinished, [projectId, finishedIds]);
    await announceEvents(tx, { projectId, events: finished.map(toAnnouncement) });
  }
  const closed = decided.filter(({ row, decision }) => decision.isClosed && row.parent_id !== null);
  if (closed.length === 0) return;
  const statuses = plainArray(closed.map(({ decision }) => decision.status));
  const closedIds = plainArray(closed.map(({ row }) => row.id));
  await tx.query(statements.reportBatchEnds, [projectId, closedIds, statuses]);
  wakes.cascaded = true;
}

function toAnnouncement({ row, decision }: Decided): Announcement {
  return {
    event: 'BatchFinished',
    data: {
      batchId: row.id,
      kind: row.kind,
      name: row.name,
      status: decision.status,
      counts: countsOf(row),
    },
  };
}

function countsOf(row: BatchRow): BatchCounts {
  return batchCounts({
    total: row.total_count,
    completed: row.completed_count,
    deadLetter: row.dead_letter_count,
    cancelled: row.cancelled_count,
  });
}

function toState(row: BatchRow, callbacks: readonly CallbackRow[]): BatchState<Callback> {
  return {
    counts: countsOf(row),
    allowFailures: row.allow_failures,
    isCancelled: row.is_cancelled,
    callbacks: callbacks.map((each) => ({
      role: each.role,
      percent: each.percent,
      isEnqueued: each.is_enqueued,
      hasEnded: each.has_ended,
      jobId: each.job_id,
      jobJson: each.job,
    })),
  };
}
