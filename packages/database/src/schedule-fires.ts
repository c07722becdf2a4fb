import type { FireOutcome } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { jobOfTemplate } from './job-template.ts';
import type { Queryable } from './queryable.ts';
import { toSchedule } from './schedule-row.ts';
import type { SettingsRow } from './schedule-row.ts';
import type { Schedule, ScheduleKey } from './schedules.ts';

/** One due instant of a schedule, as recorded. */
export interface Fire {
  readonly fireAt: Date;
  readonly outcome: FireOutcome;
  readonly jobId: string | undefined;
  readonly recordedAt: Date;
}

/** Reads the fires of a schedule, newest first, a page before `before`. */
export async function listFires(
  db: Queryable,
  request: ScheduleKey & { readonly before: Date | undefined; readonly limit: number },
): Promise<readonly Fire[]> {
  const rows = await db.query<{
    readonly fire_at: Date;
    readonly outcome: FireOutcome;
    readonly job_id: string | null;
    readonly recorded_at: Date;
  }>(statements.listFires, [request.projectId, request.id, request.before ?? null, request.limit]);
  return rows.map((row) => ({
    fireAt: row.fire_at,
    outcome: row.outcome,
    jobId: row.job_id ?? undefined,
    recordedAt: row.recorded_at,
  }));
}

/** A due schedule with the database's time, locked for the transaction. */
export interface DueSchedule extends Schedule {
  readonly nextFireAt: Date;
  readonly isPaused: boolean;
  readonly now: Date;
}

/**
 * Locks due schedules for the transaction `tx`; those that another scheduler handles are skipped. With `aheadMs` the
 * clock that they are held against is ahead by so much.
 */
export async function lockDueSchedules(
  tx: Queryable,
  limit: number,
  aheadMs = 0,
): Promise<readonly DueSchedule[]> {
  const rows = await tx.query<
    SettingsRow & {
      readonly project_id: string;
      readonly next_fire_at: Date;
      readonly paused: boolean;
      readonly now: Date;
    }
  >(statements.lockDueSchedules, [limit, aheadMs]);
  return rows.map((row) => ({
    ...toSchedule(row, row.project_id),
    nextFireAt: row.next_fire_at,
    isPaused: row.paused,
    now: row.now,
  }));
}

/** Whether a job of the schedule still waits or runs. */
export async function hasUnfinishedJob(tx: Queryable, key: ScheduleKey): Promise<boolean> {
  const [row] = await tx.query<{ readonly unfinished: boolean }>(statements.hasUnfinishedJob, [
    key.projectId,
    key.id,
  ]);
  return row?.unfinished === true;
}

/** Records an instant; answers false when it was recorded before, and nothing may be enqueued for it then. */
export async function recordFire(
  tx: Queryable,
  fire: ScheduleKey & {
    readonly fireAt: Date;
    readonly outcome: FireOutcome;
    readonly jobId: string | undefined;
  },
): Promise<boolean> {
  const values = [fire.projectId, fire.id, fire.fireAt, fire.outcome, fire.jobId ?? null];
  return (await tx.query(statements.recordFire, values)).length > 0;
}

/** Records instants that no job is made for; answers how many had not been recorded before. */
export async function recordUnfired(
  tx: Queryable,
  request: ScheduleKey & {
    readonly fireAts: readonly Date[];
    readonly outcome: Extract<FireOutcome, 'skipped_overlap' | 'skipped_paused' | 'missed'>;
  },
): Promise<number> {
  const fireAts = plainArray(request.fireAts.map((fireAt) => fireAt.toISOString()));
  const values = [request.projectId, request.id, fireAts, request.outcome];
  return (await tx.query(statements.recordUnfired, values)).length;
}

/** Sets the next instant of a schedule. */
export async function advanceSchedule(
  tx: Queryable,
  request: ScheduleKey & { readonly nextFireAt: Date | undefined },
): Promise<void> {
  const values = [request.projectId, request.id, request.nextFireAt ?? null];
  await tx.query(statements.advanceSchedule, values);
}

/** Milliseconds until the next schedule is due (0 or less: now); undefined when there is none. */
export async function nextFireInMs(database: Database): Promise<number | undefined> {
  const [row] = await database.query<{ readonly due_in_ms: number | null }>(statements.nextFireIn);
  return row?.due_in_ms ?? undefined;
}

/** Instants of the last day that no job was made for, by the schedule's name. */
export async function countMissedFires(
  db: Queryable,
  projectId: string,
): Promise<readonly { readonly name: string; readonly fire_count: number }[]> {
  return db.query<{ name: string; fire_count: number }>(statements.countMissedFires, [projectId]);
}

/** The job for one instant of a schedule, made from its template. */
export function jobOfFire(
  { id, job }: Schedule,
  fire: { readonly jobId: string; readonly fireAt: Date },
): NewJob {
  return { ...jobOfTemplate(job, fire.jobId), scheduleId: id, fireAt: fire.fireAt };
}
