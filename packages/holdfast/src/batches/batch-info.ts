import type { BatchView } from '@holdfast/database';
import type { BatchKind, BatchStatus, CallbackRole } from '@holdfast/domain';

/** A batch, chain or graph as it was when it was read. */
export interface BatchInfo {
  readonly id: string;
  readonly kind: BatchKind;
  readonly name: string | undefined;
  /** The batch that this one is a member of. */
  readonly parentId: string | undefined;
  readonly allowFailures: boolean;
  /** `running` until all members have ended; then how. */
  readonly status: BatchStatus;
  /** Jobs and inner batches; callbacks are no members. */
  readonly totalCount: number;
  readonly completedCount: number;
  readonly deadLetterCount: number;
  readonly cancelledCount: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
  readonly cancelledAt: Date | undefined;
  /** Empty in lists. */
  readonly callbacks: readonly BatchCallbackInfo[];
}

/** A callback of a batch. */
export interface BatchCallbackInfo {
  readonly role: CallbackRole;
  /** Of a progress callback: the share of ended members that calls for it; else 0. */
  readonly percent: number;
  /** The id of its job, also before that is made. */
  readonly jobId: string;
  readonly type: string;
  readonly enqueuedAt: Date | undefined;
  readonly endedAt: Date | undefined;
}

/** A batch as it is shown. */
export function toBatchInfo({ callbacks, ...batch }: BatchView): BatchInfo {
  const dateOf = (text: string | null) => (text === null ? undefined : new Date(text));
  return {
    ...batch,
    callbacks: callbacks.map(({ enqueuedAt, endedAt, ...callback }) => ({
      ...callback,
      enqueuedAt: dateOf(enqueuedAt),
      endedAt: dateOf(endedAt),
    })),
  };
}
