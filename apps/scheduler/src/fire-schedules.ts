import {
  advanceSchedule,
  enqueueJobs,
  hasUnfinishedJob,
  lockDueSchedules,
  recordFire,
} from '@holdfast/database';
import { HoldfastError, uuidV7 } from '@holdfast/domain';
import { planFires } from './fire-plan.ts';
import type { Database, DueSchedule, FireOutcome, NewJob, Queryable } from '@holdfast/database';
import type { RetryPolicy } from '@holdfast/domain';
import type { PlannedFire } from './fire-plan.ts';

/** What became of one instant of one schedule. */
export interface FiredInstant {
  readonly scheduleId: string;
  readonly name: string;
  readonly fireAt: Date;
  readonly outcome: FireOutcome;
  readonly jobId: string | undefined;
  /** How long after the instant it was handled. */
  readonly lagMs: number;
}

/** What one transaction of the cron loop did. */
export interface FireReport {
  readonly instants: readonly FiredInstant[];
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
  readonly instants: FiredInstant[];
  readonly jobsByProject: Map<string, NewJob[]>;
  readonly broken: FireReport['broken'][number][];
}

/**
 * Handles a batch of due schedules in one transaction: for each instant the fire row, the job and the schedule's next
 * instant are written together. The fire row's key makes each instant happen once, whoever else tries, and schedules
 * that another scheduler has locked are left to it.
 */
export async function fireDueSchedules(database: Database): Promise<FireReport> {
  return database.transaction(async (tx) => {
    const batch: Batch = { tx, instants: [], jobsByProject: new Map(), broken: [] };
    const schedules = await lockDueSchedules(tx, batchSize);
    for (const schedule of schedules) await fireSchedule(schedule, batch);
    const queueIds = new Set<string>();
    for (const [projectId, jobs] of batch.jobsByProject) {
      const enqueued = await enqueueJobs(database, { projectId, jobs, tx });
      enqueued.queueIds.forEach((queueId) => queueIds.add(queueId));
    }
    return {
      instants: batch.instants,
      queueIds: [...queueIds],
      broken: batch.broken,
      hasMore: schedules.length === batchSize,
    };
  });
}

async function fireSchedule(schedule: DueSchedule, batch: Batch): Promise<void> {
  const plan = tryPlan(schedule, batch);
  if (plan.fires.length > 0) await fireInstants(schedule, { fires: plan.fires, batch });
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

async function fireInstants(
  schedule: DueSchedule,
  { fires, batch }: { readonly fires: readonly PlannedFire[]; readonly batch: Batch },
): Promise<void> {
  const { tx } = batch;
  // Judged once for the whole round: instants that are made up for together do not hold up one another.
  const isBusy = schedule.overlap === 'skip' && (await hasUnfinishedJob(tx, keyOf(schedule)));
  for (const { fireAt, outcome: planned } of fires) {
    const outcome = planned !== 'missed' && isBusy ? 'skipped_overlap' : planned;
    const jobId =
      outcome === 'enqueued' || outcome === 'caught_up' ? newJobId(schedule) : undefined;
    const isFirst = await recordFire(tx, { ...keyOf(schedule), fireAt, outcome, jobId });
    if (!isFirst) continue;
    if (jobId !== undefined) addJob(batch, schedule, { jobId, fireAt });
    batch.instants.push({
      scheduleId: schedule.id,
      name: schedule.name,
      fireAt,
      outcome,
      jobId,
      lagMs: schedule.now.getTime() - fireAt.getTime(),
    });
  }
}

function addJob(
  { jobsByProject }: Batch,
  { projectId, id, job }: DueSchedule,
  { jobId, fireAt }: { readonly jobId: string; readonly fireAt: Date },
): void {
  const jobs = jobsByProject.get(projectId) ?? [];
  jobsByProject.set(projectId, jobs);
  jobs.push({
    id: jobId,
    queue: job.queue,
    type: job.type,
    payloadJson: JSON.stringify(job.payload ?? null),
    priority: job.priority,
    maxAttempts: job.maxAttempts,
    timeoutMs: job.timeoutMs,
    // The template holds it in the stored form, which the API made from a checked policy.
    retry: job.retry as RetryPolicy | undefined,
    tags: job.tags,
    metadataJson: job.metadata === undefined ? undefined : JSON.stringify(job.metadata),
    scheduleId: id,
    fireAt,
  });
}

function newJobId(schedule: DueSchedule): string {
  return uuidV7(schedule.now.getTime());
}

function keyOf({ projectId, id }: DueSchedule): {
  readonly projectId: string;
  readonly id: string;
} {
  return { projectId, id };
}
