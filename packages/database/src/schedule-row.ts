import type { CatchUp, FireOutcome, Overlap } from '@holdfast/domain';
import { readStoredTemplate } from './job-template.ts';
import type { Schedule, ScheduledJobTemplate, ScheduleTiming, ScheduleView } from './schedules.ts';

/** The settings of a schedule as columns; bigints are text. */
export interface SettingsRow {
  readonly id: string;
  readonly name: string;
  readonly cron: string | null;
  readonly every_ms: string | null;
  readonly anchor_at: Date | null;
  readonly timezone: string;
  readonly job: unknown;
  readonly catch_up: CatchUp;
  readonly catch_up_window_ms: string;
  readonly overlap: Overlap;
  readonly next_fire_at: Date | null;
}

/** A schedule with its last fire, as columns. */
export interface ViewRow extends SettingsRow {
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

/** A schedule from its columns. */
export function toSchedule(row: SettingsRow, projectId: string): Schedule {
  const timing: ScheduleTiming =
    row.every_ms === null || row.anchor_at === null
      ? { cron: row.cron ?? '', timezone: row.timezone }
      : { everyMs: Number(row.every_ms), anchorAt: row.anchor_at, timezone: row.timezone };
  return {
    projectId,
    id: row.id,
    name: row.name,
    timing,
    job: templateOf(row.job),
    catchUp: row.catch_up,
    catchUpWindowMs: Number(row.catch_up_window_ms),
    overlap: row.overlap,
    nextFireAt: row.next_fire_at ?? undefined,
  };
}

/** When the job is due is the schedule's to say. */
function templateOf(stored: unknown): ScheduledJobTemplate {
  const { delayMs: _delayMs, ...template } = readStoredTemplate(stored);
  return template;
}

/** A schedule from its columns, as it is shown. */
export function toView(row: ViewRow, projectId: string): ScheduleView {
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
