import { UniqueKeyHeldError } from '@holdfast/domain';
import type { JobStatus, UniqueConflict } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { Enqueued, NewJob } from './enqueue.ts';
import { announceEvents } from './events.ts';
import type { Announcement } from './events.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueuesFor } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';
import { groupByKey, toRequest, withNewestContent } from './unique-groups.ts';
import type { KeyGroup, UniqueJob } from './unique-groups.ts';
import { acquireUniqueKeys } from './unique-locks.ts';
import type { KeyAnswer } from './unique-locks.ts';

/** What became of one job of a call. */
export interface JobOutcome {
  /** The job, or the one that stands for it. */
  readonly id: string;
  /** `undefined` when nothing but the id is known of it. */
  readonly status: JobStatus | undefined;
  /** Whether this call inserted the job; false too when an earlier call with the same id had done so. */
  readonly isNew: boolean;
  /** Another job stands for it. */
  readonly deduplicated: boolean;
  /**
   * What happened because the key was held: the holder was `kept` as it is, has the content of this job now
   * (`replaced`), waits anew besides (`debounced`), or this job was inserted and waits for its end (`queued_behind`).
   */
  readonly conflict?: UniqueConflict | undefined;
  /** The job that holds the key, when it is another one than `id` or than the job of the call. */
  readonly holderId?: string | undefined;
}

/** What an insert of jobs with unique keys did. */
export interface UniquelyEnqueued extends Enqueued {
  /** One for each job, in the order of the call. */
  readonly outcomes: readonly JobOutcome[];
}

/** A call of {@link enqueueUniqueJobs}. */
export interface UniqueEnqueueRequest {
  readonly projectId: string;
  readonly jobs: readonly UniqueJob[];
  /** The transaction to take part in, under read committed; without it there is one for this call. */
  readonly tx?: Queryable | undefined;
  /** The queues of the jobs, where they have been resolved already. */
  readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
  /** That an earlier call may have inserted some of the ids, and that their jobs may have ended since, or do so now. */
  readonly mayRepeat?: boolean | undefined;
}

/**
 * Inserts jobs of which some ask for unique keys, all or none. Workers are to be woken after the commit as for
 * {@link enqueueJobs}.
 *
 * Jobs of one call that share a key are taken in their order, and must not differ in what they say about it.
 *
 * @throws OptionsInvalidError for settings that break a rule
 * @throws UniqueKeyHeldError when a job with `onConflict: 'reject'` finds its key held; a transaction that was given stays
 *   usable and has nothing of this call in it
 */
export async function enqueueUniqueJobs(
  database: Database,
  request: UniqueEnqueueRequest,
): Promise<UniquelyEnqueued> {
  const groups = groupByKey(request.jobs);
  const names = [...new Set(request.jobs.map(({ queue }) => queue))];
  const { projectId, tx } = request;
  const queues = request.queues ?? (await resolveQueuesFor(tx, { database, projectId, names }));
  const run = (tx: Queryable) => enqueueIn(tx, { ...request, database, groups, queues });
  return request.tx === undefined ? database.transaction(run) : run(request.tx);
}

interface Work extends UniqueEnqueueRequest {
  readonly database: Database;
  readonly groups: readonly KeyGroup[];
  readonly queues: ReadonlyMap<string, QueueEntry>;
}

async function enqueueIn(tx: Queryable, work: Work): Promise<UniquelyEnqueued> {
  const { database, projectId, jobs, queues, mayRepeat } = work;
  const known = mayRepeat === true ? await readKnown(tx, work) : new Map<string, JobStatus>();
  const groups =
    known.size === 0 ? work.groups : groupByKey(jobs.filter(({ id }) => !known.has(id)));
  const requests = groups.map(toRequest);
  const answers = requests.length === 0 ? [] : await acquireUniqueKeys(tx, { projectId, requests });
  const outcomes = new Map<string, JobOutcome>();
  const inserts = new Map<string, NewJob>();
  for (const [index, group] of groups.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    if (answer.verdict === 'rejected') throw new UniqueKeyHeldError(group.key, answer.id);
    const insert = insertOf(group, answer);
    if (insert !== undefined) inserts.set(insert.id, insert);
    for (const [id, outcome] of outcomesOf(group, answer)) outcomes.set(id, outcome);
  }
  const isPlain = (job: UniqueJob) => job.unique === undefined && !known.has(job.id);
  const inserted = jobs.flatMap((job): NewJob[] => {
    const insert = isPlain(job) ? { ...job, unique: undefined } : inserts.get(job.id);
    return insert === undefined ? [] : [insert];
  });
  const done = await enqueueJobs(database, { projectId, jobs: inserted, tx, queues });
  await announceFollowers(tx, { projectId, groups, outcomes });
  return {
    ...done,
    // The promoter may sleep past the new instant of a job that was debounced.
    scheduled: done.scheduled || answers.some(({ verdict }) => verdict === 'debounced'),
    outcomes: jobs.map((job) => {
      const isNew = done.insertedIds.has(job.id);
      const outcome = outcomes.get(job.id);
      if (outcome !== undefined) return { ...outcome, isNew };
      const status = isNew ? statusOfNew(job) : known.get(job.id);
      return { id: job.id, status, isNew, deduplicated: false };
    }),
  };
}

/** Of the others the statement that took their keys has told. */
async function announceFollowers(
  tx: Queryable,
  work: {
    readonly projectId: string;
    readonly groups: readonly KeyGroup[];
    readonly outcomes: ReadonlyMap<string, JobOutcome>;
  },
): Promise<void> {
  const events = work.groups.flatMap(({ followers }) =>
    followers.map(({ id, type, queue }): Announcement => {
      const outcome = work.outcomes.get(id);
      const data = { type, queue, reason: outcome?.conflict };
      return { event: 'JobDeduplicated', jobId: outcome?.id, data };
    }),
  );
  await announceEvents(tx, { projectId: work.projectId, events });
}

function insertOf(group: KeyGroup, { verdict }: KeyAnswer): NewJob | undefined {
  if (verdict !== 'insert' && verdict !== 'queued_behind') return undefined;
  const { digest, settings } = group;
  const { scope, key, until, ttlMs } = settings;
  const job = { ...withNewestContent(group), unique: { digest, scope, key, until, ttlMs } };
  // It is likely to get a follower; one more column now saves a write to a running job then.
  const hasChildren = settings.onConflict === 'queue_latest' ? true : group.lead.hasChildren;
  const parentCount = (group.lead.parentCount ?? 0) + (verdict === 'queued_behind' ? 1 : 0);
  return { ...job, hasChildren, parentCount };
}

function outcomesOf(group: KeyGroup, answer: KeyAnswer): readonly [string, JobOutcome][] {
  const { lead, followers, settings } = group;
  const { verdict, id } = answer;
  const holderId = answer.holderId === id ? undefined : answer.holderId;
  if (verdict !== 'insert' && verdict !== 'existing' && verdict !== 'queued_behind') {
    const conflict = verdict === 'rejected' ? undefined : verdict;
    const { status } = answer;
    const outcome = { id, status, isNew: false, deduplicated: true, conflict, holderId };
    return [lead, ...followers].map((job) => [job.id, outcome]);
  }
  const isLater = settings.waitMs !== undefined || verdict === 'queued_behind';
  const statusWhenNew = isLater ? 'scheduled' : statusOfNew(lead);
  const status = verdict === 'existing' ? answer.status : statusWhenNew;
  const own: JobOutcome = {
    ...{ id, status, isNew: true, deduplicated: false, holderId },
    conflict: verdict === 'queued_behind' ? verdict : undefined,
  };
  const conflict = conflictOfFollower[settings.onConflict];
  const follower: JobOutcome = { ...own, isNew: false, deduplicated: true, conflict };
  return [[lead.id, own], ...followers.map((job): [string, JobOutcome] => [job.id, follower])];
}

/** What happens to a later job of a call whose key the first one took. */
const conflictOfFollower = {
  keep: 'kept',
  reject: 'kept',
  replace: 'replaced',
  queue_latest: 'replaced',
  debounce: 'debounced',
} as const;

function statusOfNew({ runAt, delayMs = 0, parentCount = 0 }: UniqueJob): JobStatus {
  return runAt !== undefined || delayMs > 0 || parentCount > 0 ? 'scheduled' : 'queued';
}

async function readKnown(
  db: Queryable,
  { projectId, jobs }: Pick<Work, 'projectId' | 'jobs'>,
): Promise<ReadonlyMap<string, JobStatus>> {
  const rows = await db.query<{ readonly id: string; readonly status: JobStatus }>(
    statements.findKnownJobs,
    [projectId, plainArray(jobs.map(({ id }) => id))],
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}
