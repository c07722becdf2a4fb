import type { CatchUp, FireOutcome, Overlap } from '@holdfast/domain';
import { statements } from './generated/statements.ts';
import type { JobTemplate } from './job-template.ts';
import type { Queryable, SqlValue } from './queryable.ts';
import { toView } from './schedule-row.ts';
import type { ViewRow } from './schedule-row.ts';

/** The job that a schedule makes; its instant is the schedule's. */
export type ScheduledJobTemplate = Omit<JobTemplate, 'delayMs'>;

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
