import { statements } from './generated/statements.ts';
import { cancelJob, replayJob, retryJob } from './job-actions.ts';
import { cancelWaitingJobs } from './job-actions.ts';
import type { Database } from './database.ts';
import type { Statement } from './generated/statements.ts';

interface BatchKey {
  readonly projectId: string;
  readonly id: string;
}

const page = 500;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** What cancelling a batch came to. */
export interface BatchCancelled {
  /** False when the batch has finished or does not exist: nothing changed. */
  readonly cancelled: boolean;
  readonly cancelledCount: number;
  /** Workers that run members of it, and were asked to stop them. */
  readonly requestedOf: readonly string[];
}

/**
 * Cancels a batch: it takes no more members, those that wait end at once, those that run are asked to end, and inner
 * batches are cancelled too. `then` and `catch` do not come any more; `finally` does.
 */
export async function cancelBatch(
  database: Database,
  key: BatchKey & { readonly reason: string },
): Promise<BatchCancelled> {
  const { projectId, id, reason } = key;
  const marked = await database.query(statements.markBatchCancelled, [projectId, id]);
  if (marked.length === 0) return { cancelled: false, cancelledCount: 0, requestedOf: [] };
  const workers = new Set<string>();
  let cancelledCount = 0;
  for await (const ids of pages(database, statements.listCancellableMembers, key)) {
    cancelledCount += (await cancelWaitingJobs(database, { projectId, ids, reason })).length;
  }
  for await (const ids of pages(database, statements.listHeldMembers, key)) {
    for (const member of ids) {
      const result = await cancelJob(database, { projectId, id: member, reason });
      if (result.cancelled) cancelledCount += 1;
      else if ('requestedOf' in result) workers.add(result.requestedOf);
    }
  }
  const inner = await database.query<{ id: string }>(statements.listInnerBatches, [projectId, id]);
  for (const { id: innerId } of inner) {
    const below = await cancelBatch(database, { projectId, id: innerId, reason });
    cancelledCount += below.cancelledCount;
    for (const worker of below.requestedOf) workers.add(worker);
  }
  return { cancelled: true, cancelledCount, requestedOf: [...workers] };
}

/** What trying the failed members of a batch again came to. */
export interface BatchRetried {
  readonly retriedCount: number;
  readonly queueIds: readonly string[];
}

/** Replays the dead members of a batch and retries those that rest in `failed`; the batch is open again. */
export async function retryFailedOfBatch(database: Database, key: BatchKey): Promise<BatchRetried> {
  const { projectId } = key;
  const queueIds = new Set<string>();
  let retriedCount = 0;
  for await (const ids of pages(database, statements.listFailedMembers, key)) {
    for (const id of ids) {
      const replayed = await replayJob(database, { projectId, id });
      const result = replayed.done ? replayed : await retryJob(database, { projectId, id });
      if (!result.done) continue;
      retriedCount += 1;
      queueIds.add(result.queueId);
    }
  }
  return { retriedCount, queueIds: [...queueIds] };
}

/** Pages of ids, each looked up after the one before was dealt with. */
async function* pages(
  database: Database,
  statement: Statement,
  { projectId, id }: BatchKey,
): AsyncGenerator<readonly string[]> {
  let after = beforeAll;
  for (;;) {
    const values = [projectId, id, after, page];
    const rows = await database.query<{ readonly id: string }>(statement, values);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => row.id);
    after = last.id;
  }
}
