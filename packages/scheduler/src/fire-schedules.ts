import {
  advanceSchedule,
  enqueueJobs,
  ensureQueuesWithin,
  hasUnfinishedJob,
  jobOfFire,
  lockDueSchedules,
  recordFire,
  recordUnfired,
} from '@holdfast/database';
import { HoldfastError, uuidV7 } from '@holdfast/domain';
import { planFires } from './fire-plan.ts';
import type { Database, DueSchedule, NewJob, Queryable } from '@holdfast/database';
import type { FireOutcome } from '@holdfast/domain';
import type { PlannedFire } from './fire-plan.ts';

/** An instant that a job was made for. */
export interface Fired {
  readonly scheduleId: string;
  readonly name: string;
  readonly fireAt: Date;
  readonly outcome: Extract<FireOutcome, 'enqueued' | 'caught_up'>;
  readonly jobId: string;
  /** How long after the instant it was handled. */
  readonly lagMs: number;
}

/** Instants of one schedule that no job was made for, all for the same reason. */
export interface Unfired {
  readonly scheduleId: string;
  readonly name: string;
  readonly outcome: Extract<FireOutcome, 'skipped_overlap' | 'skipped_paused' | 'missed'>;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** What one transaction of the cron loop did. */
export interface FireReport {
  readonly fired: readonly Fired[];
  readonly unfired: readonly Unfired[];
  /** Queues with new jobs, to be woken. */
  readonly queueIds: readonly string[];
  /** Schedules whose rule is no longer accepted; they were taken out of the line. */
  readonly broken: readonly { readonly schedule: DueSchedule; readonly error: unknown }[];
  /** True when more schedules may be due. */
  readonly hasMore: boolean;
}

/** Schedules per transaction: enough to be quick, few enough to leave some for other schedulers. */
const batchSize = 50;

interface Batch {
  readonly tx: Queryable;
  readonly fired: Fired[];
  readonly unfired: Unfired[];
  readonly jobsByProject: Map<string, NewJob[]>;
  readonly broken: FireReport['broken'][number][];
}

/**
 * Handles a batch of due schedules in one transaction: for each instant the fire row, the job and the schedule's next
 * instant are written together. The fire row's key makes each instant happen once, whoever else tries, and schedules
 * that another scheduler has locked are left to it.
 *
 * @param options.aheadMs how far the clock is ahead of the database's, for tests that travel in time; default 0
 */
export async function fireDueSchedules(
  database: Database,
  { aheadMs = 0 }: { readonly aheadMs?: number } = {},
): Promise<FireReport> {
  return database.transaction(async (tx) => {
    const batch: Batch = { tx, fired: [], unfired: [], jobsByProject: new Map(), broken: [] };
    const schedules = await lockDueSchedules(tx, batchSize, aheadMs);
    for (const schedule of schedules) await fireSchedule(schedule, batch);
    const queueIds = new Set<string>();
    for (const [projectId, jobs] of batch.jobsByProject) {
      const names = [...new Set(jobs.map(({ queue }) => queue))];
      // The transaction may have the last connection.
      const queues = await ensureQueuesWithin(tx, projectId, names);
      const enqueued = await enqueueJobs(database, { projectId, jobs, tx, queues });
      enqueued.queueIds.forEach((queueId) => queueIds.add(queueId));
    }
    const { fired, unfired, broken } = batch;
    return {
      ...{ fired, unfired, broken },
      queueIds: [...queueIds],
      hasMore: schedules.length === batchSize,
    };
  });
}

async function fireSchedule(schedule: DueSchedule, batch: Batch): Promise<void> {
  const plan = tryPlan(schedule, batch);
  const isBusy = schedule.overlap === 'skip' && plan.fires.some(isToFire);
  if (isBusy && (await hasUnfinishedJob(batch.tx, keyOf(schedule)))) {
    // Judged once for the whole round: instants that are made up for together do not hold up one another.
    await record(schedule, { batch, fires: plan.fires.map(skipForOverlap) });
  } else {
    await record(schedule, { batch, fires: plan.fires });
  }
  await advanceSchedule(batch.tx, { ...keyOf(schedule), nextFireAt: plan.nextFireAt });
}

/** A rule that cannot be computed any more must not hold up the other schedules. */
function tryPlan(schedule: DueSchedule, batch: Batch): ReturnType<typeof planFires> {
  try {
    return planFires(schedule);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    batch.broken.push({ schedule, error });
    return { fires: [], nextFireAt: undefined };
  }
}

type InstantOutcome = PlannedFire['outcome'] | 'skipped_overlap';

interface Instant {
  readonly fireAt: Date;
  readonly outcome: InstantOutcome;
}

function isToFire({ outcome }: Instant): boolean {
  return outcome === 'enqueued' || outcome === 'caught_up';
}

function skipForOverlap(fire: PlannedFire): Instant {
  return isToFire(fire) ? { ...fire, outcome: 'skipped_overlap' } : fire;
}

async function record(
  schedule: DueSchedule,
  { fires, batch }: { readonly fires: readonly Instant[]; readonly batch: Batch },
): Promise<void> {
  for (const outcome of ['missed', 'skipped_paused', 'skipped_overlap'] as const) {
    const fireAts = fires.filter((fire) => fire.outcome === outcome).map(({ fireAt }) => fireAt);
    await recordWithoutJob(schedule, { batch, fireAts, outcome });
  }
  for (const { fireAt, outcome } of fires) {
    if (outcome === 'enqueued' || outcome === 'caught_up') {
      await fire(schedule, { batch, fireAt, outcome });
    }
  }
}

async function recordWithoutJob(
  schedule: DueSchedule,
  unfired: {
    readonly batch: Batch;
    readonly fireAts: readonly Date[];
    readonly outcome: Unfired['outcome'];
  },
): Promise<void> {
  const { batch, fireAts, outcome } = unfired;
  const [firstAt] = fireAts;
  const lastAt = fireAts.at(-1);
  if (firstAt === undefined || lastAt === undefined) return;
  const count = await recordUnfired(batch.tx, { ...keyOf(schedule), fireAts, outcome });
  const { id: scheduleId, name } = schedule;
  if (count > 0) batch.unfired.push({ scheduleId, name, outcome, count, firstAt, lastAt });
}

async function fire(
  schedule: DueSchedule,
  instant: { readonly batch: Batch; readonly fireAt: Date; readonly outcome: Fired['outcome'] },
): Promise<void> {
  const { batch, fireAt, outcome } = instant;
  const { id: scheduleId, name, now } = schedule;
  const jobId = uuidV7(now.getTime());
  const isFirst = await recordFire(batch.tx, { ...keyOf(schedule), fireAt, outcome, jobId });
  if (!isFirst) return;
  addJob(batch, schedule, { jobId, fireAt });
  const lagMs = now.getTime() - fireAt.getTime();
  batch.fired.push({ scheduleId, name, fireAt, outcome, jobId, lagMs });
}

function addJob(
  { jobsByProject }: Batch,
  schedule: DueSchedule,
  fire: { readonly jobId: string; readonly fireAt: Date },
): void {
  const jobs = jobsByProject.get(schedule.projectId) ?? [];
  jobsByProject.set(schedule.projectId, jobs);
  jobs.push(jobOfFire(schedule, fire));
}

function keyOf({ projectId, id }: DueSchedule): {
  readonly projectId: string;
  readonly id: string;
} {
  return { projectId, id };
}
