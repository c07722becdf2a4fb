import { lifeCycleEvents, uuidV7 } from '@holdfast/domain';
import { textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { readStoredTemplate } from './job-template.ts';
import { listenerJob } from './listener-job.ts';
import type { Queryable } from './queryable.ts';
import { ensureQueuesWithin } from './queue-directory.ts';

/** What one round of a dispatcher did. */
export interface Dispatched {
  readonly eventCount: number;
  /** Jobs that were made for listeners. */
  readonly jobCount: number;
  /** Queues that got jobs which are due now. */
  readonly queueIds: readonly string[];
  /** Whether some of the jobs are for later. */
  readonly scheduled: boolean;
  /** True when another dispatcher is at work, and nothing was done. */
  readonly isContended: boolean;
}

/** How a round is run. */
export interface DispatchOptions {
  /** Events at most; default 500. */
  readonly limit?: number | undefined;
  /** False to number events whose listeners' jobs cannot be made; default true. */
  readonly hasListeners?: boolean | undefined;
}

/** Events of one round at most, when nothing else is said. */
export const dispatchLimit = 500;

interface Row {
  readonly project_id: string;
  readonly position: string;
  readonly id: string;
  readonly event: string;
  readonly job_id: string | null;
  readonly data: unknown;
  readonly occurred_at: Date;
  readonly job: unknown;
}

// Those that applications emit had their listeners' jobs made there.
const announcedNames = textArray(Object.keys(lifeCycleEvents));

/**
 * Dispatches the oldest events: gives them their positions and makes the jobs of their listeners, in one transaction. One
 * dispatcher works at a time, so that positions become visible in their own order; any number may try.
 */
export async function dispatchEvents(
  database: Database,
  options: DispatchOptions = {},
): Promise<Dispatched> {
  const { limit = dispatchLimit, hasListeners = true } = options;
  return database.transaction(async (tx) => {
    const [lock] = await tx.query<{ readonly locked: boolean }>(statements.lockDispatch);
    if (lock?.locked !== true) return { ...nothing, isContended: true };
    const names = hasListeners ? announcedNames : textArray([]);
    const rows = await tx.query<Row>(statements.numberEvents, [limit, names]);
    const eventCount = new Set(rows.map(({ position }) => position)).size;
    return { ...(await enqueueListeners(database, tx, rows)), eventCount, isContended: false };
  });
}

const nothing = { eventCount: 0, jobCount: 0, queueIds: [], scheduled: false } as const;

async function enqueueListeners(
  database: Database,
  tx: Queryable,
  rows: readonly Row[],
): Promise<Pick<Dispatched, 'jobCount' | 'queueIds' | 'scheduled'>> {
  const queueIds: string[] = [];
  let jobCount = 0;
  let scheduled = false;
  for (const [projectId, jobs] of jobsByProject(rows)) {
    const names = [...new Set(jobs.map(({ queue }) => queue))];
    // The transaction may have the last connection.
    const queues = await ensureQueuesWithin(tx, projectId, names);
    const done = await enqueueJobs(database, { projectId, jobs, tx, queues });
    jobCount += jobs.length;
    queueIds.push(...done.queueIds);
    scheduled ||= done.scheduled;
  }
  return { jobCount, queueIds, scheduled };
}

function jobsByProject(rows: readonly Row[]): ReadonlyMap<string, readonly NewJob[]> {
  const projects = new Map<string, NewJob[]>();
  for (const row of rows) {
    if (row.job === null) continue;
    const jobs = projects.get(row.project_id) ?? [];
    projects.set(row.project_id, jobs);
    const { event, id } = row;
    const envelope = {
      ...{ event, id, jobId: row.job_id ?? undefined },
      dataJson: JSON.stringify(row.data),
      occurredAt: row.occurred_at.toISOString(),
    };
    const jobId = uuidV7(row.occurred_at.getTime());
    jobs.push(listenerJob(readStoredTemplate(row.job), envelope, jobId));
  }
  return projects;
}

/** Whether events wait to be dispatched, and whether anybody subscribed to any, so that some may soon. */
export async function readOutboxState(
  db: Queryable,
): Promise<{ readonly hasPending: boolean; readonly hasSubscriptions: boolean }> {
  const [row] = await db.query<{ readonly pending: boolean; readonly subscribed: boolean }>(
    statements.readOutboxState,
  );
  return { hasPending: row?.pending === true, hasSubscriptions: row?.subscribed === true };
}
