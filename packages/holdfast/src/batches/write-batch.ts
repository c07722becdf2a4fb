import { addToBatch, createBatch, resolveQueuesFor, wakeForJobs } from '@holdfast/database';
import type { BatchEnqueued, NewJob, Queryable } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import type { OpenConnection } from '../connection.ts';
import type { EnqueueResult } from '../enqueue-result.ts';
import type { Internals } from '../internals.ts';
import type { CheckedDraft } from '../job-draft.ts';
import { queueOf, toNewJobs } from '../job-writer.ts';
import { middlewareInvalid } from '../middleware-chain.ts';
import type { BatchEnqueueResult, BatchPlan } from './batch-plan.ts';
import {
  draftsOf,
  prepareBatch,
  prepareMember,
  statusOf,
  statusesOf,
  toNewBatch,
  toResult,
} from './prepare-batch.ts';
import type { PreparedBatch } from './prepare-batch.ts';
import type { ReadMembers } from './read-members.ts';

/** Enqueues a batch, chain or graph, all or nothing. */
export function writeBatch(
  internals: Internals,
  plan: BatchPlan,
  tx: unknown,
): Promise<BatchEnqueueResult> {
  return internals.connection.whole(() => checkAndWriteBatch(internals, plan, tx));
}

async function checkAndWriteBatch(
  internals: Internals,
  plan: BatchPlan,
  tx: unknown,
): Promise<BatchEnqueueResult> {
  const { limitBytes } = internals.writer;
  const id = plan.options.id ?? uuidV7(systemClock.nowMs());
  const prepared = await prepareBatch(plan, id, { call: plan.kind, limitBytes });
  const mayRepeat = draftsOf(prepared).some(({ hasGivenId }) => hasGivenId);
  await write(internals, {
    ...{ call: plan.kind, tx, drafts: draftsOf(prepared), statuses: statusesOf(prepared) },
    store: ({ open, jobs, queues, on }) => {
      const batch = toNewBatch(prepared, jobs);
      const { projectId } = open;
      return createBatch(open.database, { projectId, batch, tx: on, queues, mayRepeat });
    },
  });
  return toResult(prepared);
}

/** What is added to a batch. */
export interface AddedMembers {
  readonly members: ReadMembers;
  readonly tx: unknown;
}

/** Adds jobs and inner batches to a batch, all or nothing. */
export function writeMembers(
  internals: Internals,
  batchId: string,
  request: AddedMembers,
): Promise<Omit<BatchEnqueueResult, 'id'>> {
  return internals.connection.whole(() => checkAndWriteMembers(internals, batchId, request));
}

async function checkAndWriteMembers(
  internals: Internals,
  batchId: string,
  request: AddedMembers,
): Promise<Omit<BatchEnqueueResult, 'id'>> {
  const options = { call: 'batches.add', limitBytes: internals.writer.limitBytes };
  const { members, tx } = request;
  const newId = () => uuidV7(systemClock.nowMs());
  const own: CheckedDraft[] = [];
  for (const job of members.jobs) own.push(await prepareMember(job, { ...options, id: newId() }));
  const inner: PreparedBatch[] = [];
  for (const plan of members.batches) {
    inner.push(await prepareBatch(plan, plan.options.id ?? newId(), options));
  }
  const ownIds = own.map(({ draft }) => draft.options.id);
  await write(internals, {
    ...{ call: options.call, tx },
    drafts: [...own, ...inner.flatMap(draftsOf)],
    statuses: new Map([...own.map(statusOf), ...inner.flatMap((each) => [...statusesOf(each)])]),
    store: (storing) => storeMembers(storing, { batchId, ownIds, inner }),
  });
  return { jobIds: ownIds, batches: inner.map(toResult) };
}

async function storeMembers(
  { open, jobs, on, queues }: Storing,
  added: {
    readonly batchId: string;
    readonly ownIds: readonly string[];
    readonly inner: readonly PreparedBatch[];
  },
): Promise<BatchEnqueued> {
  const { database, projectId } = open;
  const { batchId, ownIds, inner } = added;
  return addToBatch(database, {
    ...{ projectId, id: batchId, queues, tx: on },
    jobs: ownIds.flatMap((id) => jobs.get(id) ?? []),
    batches: inner.map((batch) => toNewBatch(batch, jobs)),
  });
}

interface Storing {
  readonly open: OpenConnection;
  readonly jobs: ReadonlyMap<string, NewJob>;
  readonly queues: Awaited<ReturnType<typeof resolveQueuesFor>>;
  /** The caller's transaction. */
  readonly on: Queryable | undefined;
}

interface Write {
  readonly call: string;
  readonly tx: unknown;
  /** Every job, those of callbacks too. */
  readonly drafts: readonly CheckedDraft[];
  /** What the jobs that are made at once are then; the others are made later. */
  readonly statuses: ReadonlyMap<string, 'queued' | 'scheduled'>;
  readonly store: (storing: Storing) => Promise<BatchEnqueued>;
}

/** Takes the jobs through the middleware, stores them, wakes whom they concern and announces them. */
async function write(internals: Internals, work: Write): Promise<void> {
  const { call, tx, drafts, statuses, store } = work;
  const { writer, connection } = internals;
  const on = tx === undefined ? undefined : writer.queryableOf(tx);
  let storing: Promise<unknown> | undefined;
  const storeLeft = async (left: readonly CheckedDraft[]) => {
    requireSameJobs(left, drafts);
    const attempt = (open: OpenConnection) => storeOnce(open, { left, on, store });
    await (on === undefined ? connection.useWithRetry(attempt) : connection.use(attempt));
    const results = left.map(({ draft: { options } }): EnqueueResult => {
      const status = statuses.get(options.id) ?? 'scheduled';
      return { id: options.id, status, deduplicated: false };
    });
    const isMade = (_: unknown, index: number) => statuses.has(results[index]?.id ?? '');
    writer.announce(left.filter(isMade), results.filter(isMade));
    return results;
  };
  await writer.pass(drafts, call, (left) => {
    const results = storeLeft(left);
    storing = results;
    return results;
  });
  if (storing === undefined) {
    throw middlewareInvalid(`A middleware answered without calling \`next\`; nothing was written`);
  }
  // A middleware may have answered before, and then nobody knows yet.
  await storing;
}

/** A batch is written as a whole, with the jobs that its ids name. */
function requireSameJobs(left: readonly CheckedDraft[], drafts: readonly CheckedDraft[]): void {
  const leftIds = new Set(left.map(({ draft }) => draft.options.id));
  const hasAll = drafts.every(({ draft }) => leftIds.has(draft.options.id));
  if (hasAll && left.length === drafts.length) return;
  throw middlewareInvalid(
    'A middleware must keep the jobs of a batch and their ids; nothing was written',
  );
}

async function storeOnce(
  open: OpenConnection,
  work: Pick<Storing, 'on'> & Pick<Write, 'store'> & { readonly left: readonly CheckedDraft[] },
): Promise<void> {
  const { left, on, store } = work;
  const { database, projectId, notifier } = open;
  const queues = await resolveQueuesFor(on, {
    database,
    projectId,
    names: [...new Set(left.map(queueOf))],
  });
  const newJobs = await toNewJobs(open, left, on);
  // None of them has a unique key.
  const jobs = new Map(newJobs.map((job) => [job.id, { ...job, unique: undefined }]));
  const done = await store({ open, jobs, queues, on });
  if (on !== undefined) return;
  wakeForJobs(notifier, done);
}
