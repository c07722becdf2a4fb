import { advanceBatches } from './advance-batches.ts';
import { plainArray, textArray } from './array-literal.ts';
import type { NewBatch } from './batches.ts';
import { enqueueJobs } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import type { Making } from './making.ts';
import { batchExists, memberExists } from './taken-ids.ts';

/** Rows of one insert. */
const slice = 2_000;

/**
 * Inserts a batch and everything in it. Answers false when the batch is there already.
 *
 * @throws HoldfastError `batch_member_exists`
 */
export async function insertBatchTree(
  making: Making,
  batch: NewBatch,
  parentId: string | undefined,
): Promise<boolean> {
  const { database, tx, projectId, queues } = making;
  const { id, batches = [] } = batch;
  const memberCount = batch.jobs.length + batches.length;
  const [row] = await tx.query(statements.insertBatch, [
    ...[projectId, id, batch.kind, batch.name ?? null, parentId ?? null],
    ...[batch.allowFailures === true, memberCount],
  ]);
  if (row === undefined) return false;
  await insertCallbacks(making, batch);
  await insertDependencies(making, batch);
  await insertMembers(making, batch);
  for (const inner of batches) {
    if (await insertBatchTree(making, inner, id)) continue;
    throw batchExists(inner.id);
  }
  if (memberCount > 0) return true;
  const counts = new Map([[id, { completed: 0, dead_letter: 0, cancelled: 0 }]]);
  const { queueIds } = making;
  const wakes = { queueIds, scheduled: false, cascaded: false, renamed: new Map() };
  await advanceBatches(tx, { database, projectId, wakes, counts, queues });
  making.scheduled ||= wakes.scheduled;
  return true;
}

/**
 * Inserts jobs with what they must know of their batch and of each other.
 *
 * @throws HoldfastError `batch_member_exists`
 */
export async function insertMembers(
  making: Making,
  { id: batchId, jobs, dependencies = [] }: Pick<NewBatch, 'id' | 'jobs' | 'dependencies'>,
): Promise<void> {
  const { database, tx, projectId, queues, mayRepeat } = making;
  const parentCounts = new Map<string, number>();
  const parents = new Set<string>();
  for (const { parentId, childId } of dependencies) {
    parents.add(parentId);
    parentCounts.set(childId, (parentCounts.get(childId) ?? 0) + 1);
  }
  for (let start = 0; start < jobs.length; start += slice) {
    const own = jobs.slice(start, start + slice).map((job) => ({
      ...job,
      batchId,
      hasChildren: parents.has(job.id),
      parentCount: parentCounts.get(job.id),
    }));
    const request = { projectId, jobs: own, tx, queues, mayRepeat };
    const { insertedIds, queueIds, scheduled } = await enqueueJobs(database, request);
    const missing = own.find(({ id }) => !insertedIds.has(id));
    if (missing !== undefined) throw memberExists(`The job ${missing.id}`);
    for (const queueId of queueIds) making.queueIds.add(queueId);
    making.scheduled ||= scheduled;
  }
}

async function insertCallbacks({ tx, projectId }: Making, batch: NewBatch): Promise<void> {
  const { callbacks = [] } = batch;
  if (callbacks.length === 0) return;
  await tx.query(statements.insertBatchCallbacks, [
    projectId,
    batch.id,
    plainArray(callbacks.map(({ role }) => role)),
    plainArray(callbacks.map(({ percent }) => percent ?? 0)),
    plainArray(callbacks.map(({ jobId }) => jobId)),
    textArray(callbacks.map(({ job }) => JSON.stringify(job))),
  ]);
}

async function insertDependencies(
  { tx, projectId }: Making,
  { jobs, dependencies = [] }: NewBatch,
): Promise<void> {
  if (dependencies.length === 0) return;
  const delayOf = new Map(jobs.map((job) => [job.id, job.delayMs ?? 0]));
  for (let start = 0; start < dependencies.length; start += slice) {
    const own = dependencies.slice(start, start + slice);
    await tx.query(statements.insertDependencies, [
      projectId,
      plainArray(own.map(({ parentId }) => parentId)),
      plainArray(own.map(({ childId }) => childId)),
      plainArray(own.map(({ onFailure }) => onFailure)),
      plainArray(own.map(({ childId }) => delayOf.get(childId) ?? 0)),
    ]);
  }
}
