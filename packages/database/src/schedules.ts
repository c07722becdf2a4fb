import { plainArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Queryable, SqlValue } from './queryable.ts';

/** The job that a schedule makes, in stored form: durations in milliseconds. */
export interface ScheduledJobTemplate {
  readonly type: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly timeoutMs?: number;
  readonly retry?: unknown;
  readonly tags?: readonly string[];
  readonly metadata?: unknown;
}

/** What happens to instants that passed while no scheduler ran. */
export type CatchUp = 'none' | 'latest' | 'all';

/** What happens to an instant while the job of an earlier one is unfinished. */
export type Overlap = 'skip' | 'allow';

/** When a schedule fires: a cron expression in a zone, or every so often from an anchor. */
export type ScheduleTiming =
  | { readonly cron: string; readonly timezone: string }
  | { readonly everyMs: number; readonly anchorAt: Date; readonly timezone: string };

/** Everything that is set of a schedule. */
export interface ScheduleSettings {
  readonly timing: ScheduleTiming;
  readonly job: ScheduledJobTemplate;
  readonly catchUp: CatchUp;
  readonly catchUpWindowMs: number;
  readonly overlap: Overlap;
  /** The first instant that is not in the past; `undefined` when it never fires again. */
  readonly nextFireAt: Date | undefined;
}

/** What became of one due instant. */
export type FireOutcome =
  'enqueued' | 'caught_up' | 'skipped_overlap' | 'skipped_paused' | 'missed' | 'manual';

/** A schedule as it is stored. */
export interface Schedule extends ScheduleSettings {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
}

/** A schedule as it is shown. */
export interface ScheduleView extends Schedule {
  readonly paused:
    | { readonly at: Date; readonly by: string | undefined; readonly reason: string | undefined }
    | undefined;
  readonly lastFire:
    | { readonly fireAt: Date; readonly outcome: FireOutcome; readonly jobId: string | undefined }
    | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly revision: string;
}

interface SettingsRow {
  readonly id: string;
  readonly name: string;
  readonly cron: string | null;
  readonly every_ms: string | null;
  readonly anchor_at: Date | null;
  readonly timezone: string;
  readonly job: ScheduledJobTemplate;
  readonly catch_up: CatchUp;
  readonly catch_up_window_ms: string;
  readonly overlap: Overlap;
  readonly next_fire_at: Date | null;
}

interface ViewRow extends SettingsRow {
  readonly paused_at: Date | null;
  readonly paused_by: string | null;
  readonly paused_reason: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly revision: string;
  readonly last_fire_at: Date | null;
  readonly last_outcome: FireOutcome | null;
  readonly last_job_id: string | null;
}

/** Which schedule. */
export interface ScheduleKey {
  readonly projectId: string;
  readonly id: string;
}

/** Stores a new schedule; answers false when the project has one of this name. */
export async function insertSchedule(
  db: Queryable,
  request: ScheduleKey & { readonly name: string; readonly settings: ScheduleSettings },
): Promise<boolean> {
  const { projectId, id, name, settings } = request;
  const rows = await db.query(statements.insertSchedule, [
    projectId,
    id,
    name,
    ...settingValues(settings),
  ]);
  return rows.length > 0;
}

/** Replaces the settings of a schedule; answers the new revision, or `undefined` when none matches. */
export async function updateSchedule(
  db: Queryable,
  request: ScheduleKey & {
    readonly settings: ScheduleSettings;
    readonly expectedRevision?: string | undefined;
  },
): Promise<string | undefined> {
  const [row] = await db.query<{ readonly revision: string }>(statements.updateSchedule, [
    request.projectId,
    request.id,
    ...settingValues(request.settings),
    request.expectedRevision ?? null,
  ]);
  return row?.revision;
}

function settingValues({ timing, ...settings }: ScheduleSettings): readonly SqlValue[] {
  const [cron, everyMs, anchorAt] =
    'cron' in timing ? [timing.cron, null, null] : [null, timing.everyMs, timing.anchorAt];
  return [
    cron,
    everyMs,
    anchorAt,
    timing.timezone,
    JSON.stringify(settings.job),
    settings.catchUp,
    settings.catchUpWindowMs,
    settings.overlap,
    settings.nextFireAt ?? null,
  ];
}

/** Removes a schedule; its fires stay as a record. */
export async function deleteSchedule(db: Queryable, key: ScheduleKey): Promise<boolean> {
  return (await db.query(statements.deleteSchedule, [key.projectId, key.id])).length > 0;
}

/** Pauses a schedule. */
export async function pauseSchedule(
  db: Queryable,
  request: ScheduleKey & { readonly by: string; readonly reason: string | undefined },
): Promise<boolean> {
  const values = [request.projectId, request.id, request.by, request.reason ?? null];
  return (await db.query(statements.pauseSchedule, values)).length > 0;
}

/** Ends a pause; `nextFireAt` is the first instant after now. */
export async function resumeSchedule(
  db: Queryable,
  request: ScheduleKey & { readonly nextFireAt: Date | undefined },
): Promise<boolean> {
  const values = [request.projectId, request.id, request.nextFireAt ?? null];
  return (await db.query(statements.resumeSchedule, values)).length > 0;
}

/** Reads one schedule. */
export async function readSchedule(
  db: Queryable,
  key: ScheduleKey,
): Promise<ScheduleView | undefined> {
  const [row] = await db.query<ViewRow>(statements.readSchedule, [key.projectId, key.id]);
  return row && toView(row, key.projectId);
}

/** Reads schedules by name, a page after `afterName`. */
export async function listSchedules(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly afterName: string | undefined;
    readonly limit: number;
  },
): Promise<readonly ScheduleView[]> {
  const values = [request.projectId, request.afterName ?? null, request.limit];
  const rows = await db.query<ViewRow>(statements.listSchedules, values);
  return rows.map((row) => toView(row, request.projectId));
}

function toSchedule(row: SettingsRow, projectId: string): Schedule {
  const timing: ScheduleTiming =
    row.every_ms === null || row.anchor_at === null
      ? { cron: row.cron ?? '', timezone: row.timezone }
      : { everyMs: Number(row.every_ms), anchorAt: row.anchor_at, timezone: row.timezone };
  return {
    projectId,
    id: row.id,
    name: row.name,
    timing,
    job: row.job,
    catchUp: row.catch_up,
    catchUpWindowMs: Number(row.catch_up_window_ms),
    overlap: row.overlap,
    nextFireAt: row.next_fire_at ?? undefined,
  };
}

function toView(row: ViewRow, projectId: string): ScheduleView {
  return {
    ...toSchedule(row, projectId),
    paused:
      row.paused_at === null
        ? undefined
        : {
            at: row.paused_at,
            by: row.paused_by ?? undefined,
            reason: row.paused_reason ?? undefined,
          },
    lastFire:
      row.last_fire_at === null || row.last_outcome === null
        ? undefined
        : {
            fireAt: row.last_fire_at,
            outcome: row.last_outcome,
            jobId: row.last_job_id ?? undefined,
          },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    revision: row.revision,
  };
}

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

/** Locks due schedules for the transaction `tx`; those that another scheduler handles are skipped. */
export async function lockDueSchedules(
  tx: Queryable,
  limit: number,
): Promise<readonly DueSchedule[]> {
  const rows = await tx.query<
    SettingsRow & {
      readonly project_id: string;
      readonly next_fire_at: Date;
      readonly paused: boolean;
      readonly now: Date;
    }
  >(statements.lockDueSchedules, [limit]);
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
