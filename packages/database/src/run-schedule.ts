import { uuidV7 } from '@holdfast/domain';
import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { Enqueued } from './enqueue.ts';
import type { Queryable } from './queryable.ts';
import type { QueueEntry } from './queue-directory.ts';
import { jobOfFire, recordFire } from './schedule-fires.ts';
import type { Schedule } from './schedules.ts';
import { readClock } from './server.ts';

/** A run by hand: its fire, and whom to wake after the commit. */
export interface ManualRun {
  readonly fireAt: Date;
  readonly jobId: string;
  readonly enqueued: Enqueued;
}

const mostRunsAtOnce = 100;

/**
 * Makes the job of a schedule now: a fire of its own, beside the due instants. `undefined` when too many such runs come at
 * once.
 *
 * @param request.tx the fire and the job are parts of it
 * @param request.queues the queue of the schedule's job, resolved before the transaction began
 */
export async function runSchedule(
  database: Database,
  request: {
    readonly schedule: Schedule;
    readonly tx: Queryable;
    readonly queues: ReadonlyMap<string, QueueEntry>;
  },
): Promise<ManualRun | undefined> {
  const { schedule, tx, queues } = request;
  const { projectId } = schedule;
  const fire = await recordManualFire(tx, schedule);
  if (fire === undefined) return undefined;
  const jobs = [jobOfFire(schedule, fire)];
  const enqueued = await enqueueJobs(database, { projectId, jobs, queues, tx });
  return { ...fire, enqueued };
}

/** A schedule has at most one fire a millisecond; runs that come together take the next free ones. */
async function recordManualFire(tx: Queryable, { projectId, id }: Schedule) {
  const nowMs = (await readClock(tx)).getTime();
  const jobId = uuidV7(nowMs);
  for (let laterMs = 0; laterMs < mostRunsAtOnce; laterMs += 1) {
    const fireAt = new Date(nowMs + laterMs);
    const isNew = await recordFire(tx, { projectId, id, fireAt, outcome: 'manual', jobId });
    if (isNew) return { fireAt, jobId };
  }
  return undefined;
}
