import type { ScheduleTiming, ScheduleView } from '@holdfast/database';
import type { CatchUp, FireOutcome, Overlap } from '@holdfast/domain';

/** A schedule as it was when it was read. Durations in milliseconds. */
export interface ScheduleInfo {
  readonly id: string;
  readonly name: string;
  readonly timing: ScheduleTiming;
  readonly job: {
    readonly type: string;
    readonly queue: string;
    readonly payload: unknown;
  };
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
  const { type, queue, payload } = job;
  return {
    ...{ id, name, timing, job: { type, queue, payload }, catchUp, catchUpWindowMs, overlap },
    ...{ paused, nextFireAt, lastFire, createdAt, updatedAt },
  };
}
