import type { ScheduleView } from '@holdfast/database';
import type { CatchUp, FireOutcome, Overlap } from '@holdfast/domain';
import { toTemplateInfo } from './job-template.ts';
import type { JobTemplateInfo } from './job-template.ts';

/** A schedule as it was when it was read. Durations in milliseconds. */
export interface ScheduleInfo {
  readonly id: string;
  readonly name: string;
  /** `undefined`: it fires by `everyMs`. */
  readonly cron: string | undefined;
  /** `undefined`: it fires by `cron`. */
  readonly everyMs: number | undefined;
  readonly timezone: string;
  readonly job: JobTemplateInfo & { readonly payload: unknown };
  readonly catchUp: CatchUp;
  readonly catchUpWindowMs: number;
  readonly overlap: Overlap;
  readonly paused:
    | { readonly at: Date; readonly by: string | undefined; readonly reason: string | undefined }
    | undefined;
  /** `undefined`: never again. */
  readonly nextFireAt: Date | undefined;
  readonly lastFire:
    | { readonly fireAt: Date; readonly outcome: FireOutcome; readonly jobId: string | undefined }
    | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A stored schedule for users. */
export function toScheduleInfo(view: ScheduleView): ScheduleInfo {
  const { id, name, timing, job, catchUp, catchUpWindowMs, overlap } = view;
  const { paused, nextFireAt, lastFire, createdAt, updatedAt } = view;
  return {
    ...{ id, name },
    cron: 'cron' in timing ? timing.cron : undefined,
    everyMs: 'cron' in timing ? undefined : timing.everyMs,
    timezone: timing.timezone,
    job: { ...toTemplateInfo(job), payload: job.payload },
    ...{ catchUp, catchUpWindowMs, overlap },
    ...{ paused, nextFireAt, lastFire, createdAt, updatedAt },
  };
}
