import { decideBatch } from '@holdfast/domain';
import type { BatchState, CallbackRole, CallbackState, JobStatus } from '@holdfast/domain';
import { plainArray, textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { jobOfTemplate } from './job-template.ts';
import type { JobTemplate } from './job-template.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueues } from './queue-directory.ts';

/** What a round of the settler did. */
export interface Settled {
  readonly count: number;
  /** Queues that got jobs which are due now. */
  readonly queueIds: readonly string[];
  /** Whether some of the unblocked jobs are for later. */
  readonly scheduled: boolean;
  /** Whether there may be more to settle. */
  readonly more: boolean;
}

interface Ending {
  readonly project_id: string;
  readonly job_id: string;
  readonly status: EndStatus;
  readonly batch_id: string | null;
  readonly has_children: boolean;
}

type EndStatus = Extract<JobStatus, 'completed' | 'dead_letter' | 'cancelled'>;

interface Wakes {
  readonly queueIds: Set<string>;
  scheduled: boolean;
  /** Something ended by this round. */
  cascaded: boolean;
}

/**
 * Carries out what follows from jobs that ended while something waited for them: children are unblocked or cancelled,
 * batches count, callbacks are enqueued. One page of endings is one transaction. Any number of settlers may run.
 */
export async function settleEndings(database: Database, limit = 1_000): Promise<Settled> {
  const wakes: Wakes = { queueIds: new Set(), scheduled: false, cascaded: false };
  const count = await database.transaction(async (tx) => {
    wakes.queueIds.clear();
    const endings = await tx.query<Ending>(statements.takeEndings, [limit]);
    for (const [projectId, own] of groupBy(endings, (ending) => ending.project_id)) {
      const parents = own.filter((ending) => ending.has_children);
      if (parents.length > 0) await settleDependencies(tx, { projectId, parents, wakes });
      const members = own.filter((ending) => ending.batch_id !== null);
      if (members.length > 0) await settleBatches(tx, { database, projectId, members, wakes });
    }
    return endings.length;
  });
  const { queueIds, scheduled, cascaded } = wakes;
  return { count, queueIds: [...queueIds], scheduled, more: cascaded || count >= limit };
}

interface EndedEdge {
  readonly parent_id: string;
  readonly child_id: string;
  readonly on_failure: 'cancel' | 'run' | 'wait';
  readonly state: 'satisfied' | 'broken';
}

async function settleDependencies(
  tx: Queryable,
  work: { readonly projectId: string; readonly parents: readonly Ending[]; readonly wakes: Wakes },
): Promise<void> {
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
  if (doomed.length > 0) await cancelChildren(tx, { projectId, doomed, parents, wakes });
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

/** A child is cancelled once, however many of its parents died; its own children follow in the next round. */
async function cancelChildren(
  tx: Queryable,
  work: {
    readonly projectId: string;
    readonly doomed: readonly EndedEdge[];
    readonly parents: readonly Ending[];
    readonly wakes: Wakes;
  },
): Promise<void> {
  const statusOf = new Map(work.parents.map((ending) => [ending.job_id, ending.status]));
  const errors = new Map(
    work.doomed.map(({ child_id, parent_id }) => [
      child_id,
      JSON.stringify({
        code: 'parent_failed',
        message: `Its parent ${parent_id} ended as ${statusOf.get(parent_id) ?? 'unknown'}`,
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

interface BatchRow {
  readonly id: string;
  readonly kind: 'batch' | 'chain' | 'graph';
  readonly parent_id: string | null;
  readonly allow_failures: boolean;
  readonly total_count: number;
  readonly completed_count: number;
  readonly dead_letter_count: number;
  readonly cancelled_count: number;
  readonly is_cancelled: boolean;
  readonly is_finished: boolean;
  readonly reported_status: string | null;
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

interface BatchWork {
  readonly database: Database;
  readonly projectId: string;
  readonly wakes: Wakes;
}

async function settleBatches(
  tx: Queryable,
  work: BatchWork & { readonly members: readonly Ending[] },
): Promise<void> {
  const { projectId, members } = work;
  const callbacks = await tx.query<{ batch_id: string; job_id: string }>(
    statements.findEndedCallbacks,
    [projectId, plainArray(members.map((ending) => ending.job_id))],
  );
  const callbackIds = new Set(callbacks.map(({ job_id }) => job_id));
  const counts = new Map<string, Record<EndStatus, number>>();
  for (const { job_id, batch_id, status } of members) {
    if (batch_id === null) continue;
    const count = counts.get(batch_id) ?? { completed: 0, dead_letter: 0, cancelled: 0 };
    counts.set(batch_id, count);
    if (!callbackIds.has(job_id)) count[status] += 1;
  }
  await advanceBatches(tx, { ...work, counts });
}

/** Adds to the counts of batches and does what follows from them. */
export async function advanceBatches(
  tx: Queryable,
  work: BatchWork & { readonly counts: ReadonlyMap<string, Readonly<Record<EndStatus, number>>> },
): Promise<void> {
  const { projectId, counts } = work;
  const ids = plainArray([...counts.keys()]);
  const column = (status: EndStatus) =>
    plainArray([...counts.values()].map((each) => each[status]));
  const batches = await tx.query<BatchRow>(statements.countBatchEnds, [
    projectId,
    ids,
    ...[column('completed'), column('dead_letter'), column('cancelled')],
  ]);
  const callbacks = groupBy(
    await tx.query<CallbackRow>(statements.listOpenCallbacks, [projectId, ids]),
    (row) => row.batch_id,
  );
  const decided = batches.map((row) => {
    const own = callbacks.get(row.id) ?? [];
    return { row, decision: decideBatch(toState(row, own)) };
  });
  for (const { row, decision } of decided) {
    if (decision.enqueue.length > 0) await call(tx, work, { row, callbacks: decision.enqueue });
  }
  const finished = decided.filter(({ row, decision }) => decision.isFinished && !row.is_finished);
  if (finished.length > 0) {
    const finishedIds = plainArray(finished.map(({ row }) => row.id));
    await tx.query(statements.markBatchesFinished, [projectId, finishedIds]);
  }
  const closed = decided.filter(({ row, decision }) => decision.isClosed && row.parent_id !== null);
  if (closed.length > 0) {
    const statuses = plainArray(closed.map(({ decision }) => decision.status));
    const closedIds = plainArray(closed.map(({ row }) => row.id));
    await tx.query(statements.reportBatchEnds, [projectId, closedIds, statuses]);
    work.wakes.cascaded = true;
  }
}

function toState(row: BatchRow, callbacks: readonly CallbackRow[]): BatchState<Callback> {
  return {
    totalCount: row.total_count,
    completedCount: row.completed_count,
    deadLetterCount: row.dead_letter_count,
    cancelledCount: row.cancelled_count,
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

/** Makes the jobs of callbacks, as parts of their batch. */
async function call(
  tx: Queryable,
  { database, projectId, wakes }: BatchWork,
  due: { readonly row: BatchRow; readonly callbacks: readonly Callback[] },
): Promise<void> {
  const jobs = due.callbacks.map(({ jobId, jobJson }) => {
    // Written by this product from a validated template.
    const template = JSON.parse(jobJson ?? '{}') as JobTemplate;
    return { ...jobOfTemplate(template, jobId), batchId: due.row.id };
  });
  const names = [...new Set(jobs.map(({ queue }) => queue))];
  const queues = await resolveQueues(database, projectId, names);
  const enqueued = await enqueueJobs(database, { projectId, jobs, tx, queues });
  const ids = plainArray(jobs.map(({ id }) => id));
  await tx.query(statements.markCallbacksEnqueued, [projectId, ids]);
  for (const id of enqueued.queueIds) wakes.queueIds.add(id);
  wakes.scheduled ||= enqueued.scheduled;
}

function groupBy<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}
