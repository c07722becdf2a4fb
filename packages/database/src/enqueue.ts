import { jobDefaults as systemDefaults } from '@holdfast/domain';
import type { RetryPolicy, UniqueScope, UniqueUntil } from '@holdfast/domain';
import { plainArray, textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Lane } from './lane.ts';
import type { Queryable, SqlValue } from './queryable.ts';
import { resolveQueuesFor } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';

/** A job to be inserted. Absent settings come from its queue, then from the defaults. */
export interface NewJob {
  /** A UUID made by the caller; inserting the same id twice makes one job. */
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  /** JSON text, stored as jsonb. */
  readonly payloadJson: string;
  /** Which shape the payload has, 1 to 32 767; default 1. */
  readonly payloadVersion?: number | undefined;
  /** 0 (first) to 9; default 5. */
  readonly priority?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly tags?: readonly string[] | undefined;
  /** JSON text. */
  readonly metadataJson?: string | undefined;
  /** Not before this instant, by the database clock; wins over `delayMs`. */
  readonly runAt?: Date | undefined;
  /** Not before this many milliseconds from the insert. */
  readonly delayMs?: number | undefined;
  readonly scheduleId?: string | undefined;
  readonly fireAt?: Date | undefined;
  /** Cancelled when no worker has claimed it by then, by the database clock; wins over `startDeadlineMs`. */
  readonly startDeadlineAt?: Date | undefined;
  /** The same, as milliseconds from the insert. */
  readonly startDeadlineMs?: number | undefined;
  /** The batch, chain or graph that it belongs to. */
  readonly batchId?: string | undefined;
  /** The event that a subscription made it for. */
  readonly eventId?: string | undefined;
  /** The unique key that it has acquired, see `enqueueUniqueJobs`. */
  readonly unique?: UniqueLock | undefined;
  /** Other jobs wait for its end. */
  readonly hasChildren?: boolean | undefined;
  /** How many jobs it waits for; it is due when they have ended. */
  readonly parentCount?: number | undefined;
}

/** A unique key as its job carries it. */
export interface UniqueLock {
  /** SHA-256 of scope, what the scope names, and key, in hexadecimal digits. */
  readonly digest: string;
  readonly scope: UniqueScope;
  readonly key: string;
  /** `start`: held until the first claim; `done`: until the job ended; `ttl`: for `ttlMs` from the insert. */
  readonly until: UniqueUntil;
  readonly ttlMs?: number | undefined;
}

/** What an insert did, and whom to wake after its commit. */
export interface Enqueued {
  /** The ids that were inserted; the others existed already. */
  readonly insertedIds: ReadonlySet<string>;
  /** Queues that got jobs which are due now. */
  readonly queueIds: readonly string[];
  /** Whether some of the jobs are for later. */
  readonly scheduled: boolean;
}

interface ResolvedJob {
  readonly job: NewJob;
  readonly queue: QueueEntry;
}

/**
 * Inserts jobs, all or none. Queues that do not exist are made. Give `tx` to make the jobs part of a transaction;
 * whoever commits it wakes the workers afterwards (see `createNotifier`).
 *
 * @param request.lane takes the insert when one statement is all of it: it costs less there than in the pool
 * @param request.queues the queues of the jobs, resolved before the transaction began: to look them up takes a second
 * connection, for which the holders of all the others would wait in vain
 * @param request.mayRepeat that an earlier call may have inserted some of the ids, and that their jobs may have ended
 * since, or do so now: they are looked for first, also in history, which costs a caller with new ids a tenth for nothing.
 */
export async function enqueueJobs(
  database: Database,
  request: {
    readonly projectId: string;
    readonly jobs: readonly NewJob[];
    readonly tx?: Queryable | undefined;
    readonly lane?: Lane | undefined;
    readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
    readonly mayRepeat?: boolean | undefined;
  },
): Promise<Enqueued> {
  const { projectId, tx, mayRepeat } = request;
  const jobs = mayRepeat === true ? await withoutKnown(tx ?? database, request) : request.jobs;
  const queues =
    request.queues ??
    (await resolveQueuesFor(tx, { database, projectId, names: distinctQueues(jobs) }));
  const groups = groupByWay(jobs, queues);
  const ways = enqueueWays.filter((way) => groups[way].length > 0);
  const insertedIds = new Set<string>();
  const insert = async (on: Queryable): Promise<void> => {
    insertedIds.clear();
    for (const way of ways) {
      const rows = await inserts[way](on, projectId, groups[way]);
      for (const row of rows) insertedIds.add(row.id);
    }
  };
  if (tx !== undefined) await insert(tx);
  else if (ways.length <= 1) await insert(request.lane ?? database);
  else await database.transaction(insert);
  return {
    insertedIds,
    queueIds: [...new Set(groups.due.map(({ queue }) => queue.id))],
    scheduled: groups.later.length > 0,
  };
}

/** `due` now, for `later`, or `held` back until other jobs have ended. */
const enqueueWays = ['due', 'later', 'held'] as const;
type EnqueueWay = (typeof enqueueWays)[number];

function groupByWay(
  jobs: readonly NewJob[],
  queues: ReadonlyMap<string, QueueEntry>,
): Readonly<Record<EnqueueWay, readonly ResolvedJob[]>> {
  const groups: Record<EnqueueWay, ResolvedJob[]> = { due: [], later: [], held: [] };
  for (const job of jobs) {
    const queue = queues.get(job.queue);
    if (queue === undefined) throw new Error(`The queue ${job.queue} could not be made`);
    groups[wayOf(job)].push({ job, queue });
  }
  return groups;
}

function wayOf(job: NewJob): EnqueueWay {
  if ((job.parentCount ?? 0) > 0) return 'held';
  // Also for NaN, so that the database refuses it.
  return job.runAt !== undefined || !((job.delayMs ?? 0) <= 0) ? 'later' : 'due';
}

type Insert = (
  on: Queryable,
  projectId: string,
  jobs: readonly ResolvedJob[],
) => Promise<readonly { readonly id: string }[]>;

const inserts: Readonly<Record<EnqueueWay, Insert>> = {
  due: (on, projectId, jobs) => on.query(statements.enqueueJobs, columnsOf(projectId, jobs)),
  later: (on, projectId, jobs) =>
    on.query(statements.scheduleJobs, [
      ...columnsOf(projectId, jobs),
      plainArray(jobs.map(({ job }) => job.runAt?.toISOString())),
      plainArray(jobs.map(({ job }) => job.delayMs ?? 0)),
    ]),
  held: (on, projectId, jobs) =>
    on.query(statements.holdBackJobs, [
      ...columnsOf(projectId, jobs),
      plainArray(jobs.map(({ job }) => job.parentCount)),
    ]),
};

async function withoutKnown(
  db: Queryable,
  request: { readonly projectId: string; readonly jobs: readonly NewJob[] },
): Promise<readonly NewJob[]> {
  const ids = plainArray(request.jobs.map(({ id }) => id));
  const rows = await db.query<{ readonly id: string }>(statements.findKnownJobs, [
    request.projectId,
    ids,
  ]);
  const known = new Set(rows.map(({ id }) => id));
  return request.jobs.filter(({ id }) => !known.has(id));
}

function distinctQueues(jobs: readonly NewJob[]): readonly string[] {
  return [...new Set(jobs.map((job) => job.queue))];
}

function columnsOf(projectId: string, jobs: readonly ResolvedJob[]): readonly SqlValue[] {
  const plain = (pick: (entry: ResolvedJob) => string | number | undefined): string =>
    plainArray(jobs.map(pick));
  const text = (pick: (entry: ResolvedJob) => string | undefined): string =>
    textArray(jobs.map(pick));
  return [
    projectId,
    plain(({ job }) => job.id),
    plain(({ queue }) => queue.id),
    text(({ job }) => job.type),
    text(({ job }) => job.payloadJson),
    plain(({ job }) => job.priority ?? systemDefaults.priority),
    plain(
      ({ job, queue }) =>
        job.maxAttempts ?? queue.jobDefaults.maxAttempts ?? systemDefaults.maxAttempts,
    ),
    plain(
      ({ job, queue }) => job.timeoutMs ?? queue.jobDefaults.timeoutMs ?? systemDefaults.timeoutMs,
    ),
    text(({ job, queue }) => jsonOrUndefined(job.retry ?? queue.jobDefaults.retry)),
    text(({ job }) =>
      job.tags === undefined || job.tags.length === 0 ? undefined : JSON.stringify(job.tags),
    ),
    text(({ job }) => job.metadataJson),
    plain(({ job }) => job.scheduleId),
    plain(({ job }) => job.fireAt?.toISOString()),
    text(({ job }) => extrasJson(job)),
  ];
}

/** What few jobs have; `undefined` for all the others, whose insert it must not slow down. */
function extrasJson(job: NewJob): string | undefined {
  const { startDeadlineAt, startDeadlineMs, batchId, eventId, unique, hasChildren } = job;
  const { payloadVersion } = job;
  const hasNone =
    (payloadVersion ?? 1) === 1 &&
    startDeadlineAt === undefined &&
    startDeadlineMs === undefined &&
    batchId === undefined &&
    eventId === undefined &&
    unique === undefined &&
    hasChildren !== true;
  if (hasNone) return undefined;
  return JSON.stringify({
    startDeadlineAt,
    startDeadlineMs,
    batchId,
    eventId,
    unique,
    hasChildren,
    payloadVersion,
  });
}

function jsonOrUndefined(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}
