import type { BatchStatus, CallbackRole } from './batch-kinds.ts';

/** How the members of a batch stand: jobs and inner batches; callbacks are no members. */
export interface BatchCounts {
  readonly total: number;
  /** Members that have not ended. */
  readonly pending: number;
  readonly completed: number;
  readonly deadLetter: number;
  readonly cancelled: number;
}

/** The counts, from those that are stored. */
export function batchCounts(stored: Omit<BatchCounts, 'pending'>): BatchCounts {
  const { total, completed, deadLetter, cancelled } = stored;
  const pending = total - completed - deadLetter - cancelled;
  return { total, pending, completed, deadLetter, cancelled };
}

/** One callback of a batch, as far as the decision needs it. */
export interface CallbackState {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it. */
  readonly percent: number | undefined;
  readonly isEnqueued: boolean;
  readonly hasEnded: boolean;
}

/** How far a batch is. */
export interface BatchState<Callback extends CallbackState = CallbackState> {
  readonly counts: BatchCounts;
  readonly allowFailures: boolean;
  readonly isCancelled: boolean;
  readonly callbacks: readonly Callback[];
}

/** What is to be done about a batch. */
export interface BatchDecision<Callback extends CallbackState> {
  /** Callbacks whose moment has come. */
  readonly enqueue: readonly Callback[];
  /** Every member has ended. */
  readonly isFinished: boolean;
  /** Every member and every callback that was or will be called has ended. */
  readonly isClosed: boolean;
  readonly status: BatchStatus;
}

/**
 * Decides what follows from the counts of a batch. Pure, and safe to ask again: a callback that was enqueued never
 * comes twice, whatever is replayed later.
 *
 * `catch` comes with the first dead letter; `then` when all members completed, or ended if failures are allowed;
 * `finally` when all ended and what `then` or `catch` called for has ended too; without members both come at once.
 */
export function decideBatch<Callback extends CallbackState>(
  batch: BatchState<Callback>,
): BatchDecision<Callback> {
  const status = batchStatus(batch);
  const isFinished = status !== 'running';
  const wanted = (callback: CallbackState): boolean => {
    switch (callback.role) {
      case 'progress':
        return !batch.isCancelled && (callback.percent ?? 0) <= endedPercent(batch.counts);
      case 'catch':
        return batch.counts.deadLetter > 0 && !batch.isCancelled;
      case 'then':
        return status === 'completed';
      case 'finally':
        return isFinished && (batch.counts.total === 0 || verdictsEnded());
    }
  };
  const isVerdict = ({ role }: CallbackState) => role === 'then' || role === 'catch';
  const verdictsEnded = (): boolean =>
    batch.callbacks.every(
      (each) => !isVerdict(each) || each.hasEnded || (!each.isEnqueued && !wanted(each)),
    );
  const enqueue = batch.callbacks.filter((each) => !each.isEnqueued && wanted(each));
  const isQuiet = batch.callbacks.every((each) => !each.isEnqueued || each.hasEnded);
  return { enqueue, isFinished, isClosed: isFinished && enqueue.length === 0 && isQuiet, status };
}

/** How a batch stands. One that was cancelled, or whose members were, did not complete. */
export function batchStatus(batch: Omit<BatchState, 'callbacks'>): BatchStatus {
  const { counts, isCancelled, allowFailures } = batch;
  if (counts.pending > 0) return 'running';
  if (isCancelled) return 'cancelled';
  if (counts.deadLetter + counts.cancelled === 0 || allowFailures) return 'completed';
  return counts.deadLetter > 0 ? 'dead_letter' : 'cancelled';
}

function endedPercent({ total, pending }: BatchCounts): number {
  return total === 0 ? 0 : Math.floor((100 * (total - pending)) / total);
}
