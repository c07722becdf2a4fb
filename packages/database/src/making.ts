import type { BatchEnqueued } from './batches.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import type { QueueEntry } from './queue-directory.ts';

/** What the parts of making a batch share; tells whom to wake. */
export interface Making {
  readonly database: Database;
  readonly tx: Queryable;
  /** The caller may go on with the transaction after an error, and commit it. */
  readonly isCallers: boolean;
  readonly projectId: string;
  readonly queues: ReadonlyMap<string, QueueEntry>;
  readonly mayRepeat: boolean;
  readonly queueIds: Set<string>;
  scheduled: boolean;
}

/** Nothing was made, and nobody is to be woken. */
export const nothingEnqueued: BatchEnqueued = { isNew: false, queueIds: [], scheduled: false };

/** Makes something in the caller's transaction, or in one of its own. */
export function startMaking(
  request: Pick<Making, 'database' | 'projectId' | 'queues' | 'mayRepeat'> & {
    readonly tx: Queryable | undefined;
  },
  make: (making: Making) => Promise<BatchEnqueued>,
): Promise<BatchEnqueued> {
  const { database } = request;
  const isCallers = request.tx !== undefined;
  const run = (tx: Queryable) =>
    make({ ...request, tx, isCallers, queueIds: new Set(), scheduled: false });
  return request.tx === undefined ? database.transaction(run) : run(request.tx);
}

/** What has been made. */
export function enqueuedBy({ queueIds, scheduled }: Making): BatchEnqueued {
  return { isNew: true, queueIds: [...queueIds], scheduled };
}

/** Lets the caller's transaction come to nothing when what was begun in it cannot be finished. */
export async function wholly<Result>(
  { tx, isCallers }: Making,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    // An error of the database has done so already.
    if (isCallers) {
      await tx.query(statements.abortTransaction, [String(error)]).catch(() => undefined);
    }
    throw error;
  }
}
