import type { BatchStatus, CallbackRole } from './batch-kinds.ts';

/** One callback of a batch, as far as the decision needs it. */
export interface CallbackState {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it; else 0. */
  readonly percent: number;
  readonly isEnqueued: boolean;
  readonly hasEnded: boolean;
}

/** How far a batch is. */
export interface BatchState<Callback extends CallbackState = CallbackState> {
  readonly totalCount: number;
  readonly completedCount: number;
  readonly deadLetterCount: number;
  readonly cancelledCount: number;
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
        return !batch.isCancelled && callback.percent <= endedPercent(batch);
      case 'catch':
        return batch.deadLetterCount > 0 && !batch.isCancelled;
      case 'then':
        return status === 'completed';
      case 'finally':
        return isFinished && (batch.totalCount === 0 || verdictsEnded());
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
  const { deadLetterCount, cancelledCount, isCancelled, allowFailures } = batch;
  if (endedCount(batch) < batch.totalCount) return 'running';
  if (isCancelled) return 'cancelled';
  if (deadLetterCount + cancelledCount === 0 || allowFailures) return 'completed';
  return deadLetterCount > 0 ? 'dead_letter' : 'cancelled';
}

function endedCount(batch: Omit<BatchState, 'callbacks'>): number {
  return batch.completedCount + batch.deadLetterCount + batch.cancelledCount;
}

function endedPercent(batch: BatchState): number {
  return batch.totalCount === 0 ? 0 : Math.floor((100 * endedCount(batch)) / batch.totalCount);
}
