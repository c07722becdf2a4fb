import { statements } from './generated/statements.ts';
import { cancelJob, cancelWaitingJobs, replayJob, retryJob } from './job-actions.ts';
import type { Database } from './database.ts';
import type { Statement } from './generated/statements.ts';

interface BatchKey {
  readonly projectId: string;
  readonly id: string;
}

const pageSize = 500;
const maxSweeps = 20;
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
  // A member that is claimed or given back meanwhile is found by the next sweep; one that finds nothing is the last.
  for (let sweeps = 0; sweeps < maxSweeps; sweeps += 1) {
    const swept = await cancelMembers(database, key);
    if (swept.foundCount === 0) break;
    cancelledCount += swept.endedCount;
    for (const worker of swept.requestedOf) workers.add(worker);
  }
  const inner = await database.query<{ id: string }>(statements.listInnerBatches, [projectId, id]);
  for (const { id: innerId } of inner) {
    const below = await cancelBatch(database, { projectId, id: innerId, reason });
    cancelledCount += below.cancelledCount;
    for (const worker of below.requestedOf) workers.add(worker);
  }
  return { cancelled: true, cancelledCount, requestedOf: [...workers] };
}

interface OpenMember {
  readonly id: string;
  readonly is_held: boolean;
}

type Cancelling = BatchKey & { readonly reason: string };

async function cancelMembers(database: Database, key: Cancelling) {
  const { projectId, reason } = key;
  const requestedOf: string[] = [];
  let foundCount = 0;
  let endedCount = 0;
  for await (const page of pages<OpenMember>(database, statements.listCancellableMembers, key)) {
    foundCount += page.length;
    const ids = page.flatMap((member) => (member.is_held ? [] : [member.id]));
    if (ids.length > 0) {
      endedCount += (await cancelWaitingJobs(database, { projectId, ids, reason })).length;
    }
    for (const { id } of page.filter((member) => member.is_held)) {
      const result = await cancelJob(database, { projectId, id, reason });
      if (result.cancelled) endedCount += 1;
      else if ('requestedOf' in result) requestedOf.push(result.requestedOf);
    }
  }
  return { foundCount, endedCount, requestedOf };
}

/** What trying the failed members of a batch again came to. */
export interface BatchRetried {
  readonly retriedCount: number;
  readonly queueIds: readonly string[];
}

/**
 * Replays the dead members of a batch, and of the batches in it, and retries those that rest in `failed`; the batch is
 * open again. A member whose unique key another job holds stays dead.
 */
export async function retryFailedOfBatch(database: Database, key: BatchKey): Promise<BatchRetried> {
  const { projectId, id } = key;
  const queueIds = new Set<string>();
  let retriedCount = 0;
  for await (const page of pages(database, statements.listFailedMembers, key)) {
    for (const { id: member } of page) {
      const replayed = await replayJob(database, { projectId, id: member });
      const result = replayed.done ? replayed : await retryJob(database, { projectId, id: member });
      if (!result.done) continue;
      retriedCount += 1;
      queueIds.add(result.queueId);
    }
  }
  const inner = await database.query<{ id: string }>(statements.listInnerBatches, [projectId, id]);
  for (const { id: innerId } of inner) {
    const below = await retryFailedOfBatch(database, { projectId, id: innerId });
    retriedCount += below.retriedCount;
    for (const queueId of below.queueIds) queueIds.add(queueId);
  }
  return { retriedCount, queueIds: [...queueIds] };
}

/** Pages of members, each looked up after the one before was dealt with. */
async function* pages<Row extends { readonly id: string }>(
  database: Database,
  statement: Statement,
  { projectId, id }: BatchKey,
): AsyncGenerator<readonly Row[]> {
  let after = beforeAll;
  for (;;) {
    const values = [projectId, id, after, pageSize];
    const rows = await database.query<Row>(statement, values);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}
