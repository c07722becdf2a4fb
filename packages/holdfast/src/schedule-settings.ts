import type {
  ScheduledJobTemplate,
  ScheduleSettings,
  ScheduleTiming,
  ScheduleView,
} from '@holdfast/database';
import {
  canonicalTimezone,
  catchUps,
  minEveryMs,
  nextFire,
  overlaps,
  parseCron,
  parseEvery,
} from '@holdfast/domain';
import type { CatchUp, Overlap, ScheduleRule } from '@holdfast/domain';
import { isJobRequest } from './batches/is-job-request.ts';
import { OptionCheck } from './check-options.ts';
import type { JobRequest } from './job-definition.ts';
import { checkDraft } from './job-draft.ts';
import type { CheckedDraft } from './job-draft.ts';
import type { Duration } from './job-options.ts';
import { templateSettingsOf } from './job-template.ts';
import { fieldsOf, queueOf } from './job-writer.ts';
import { callWith } from './shown.ts';

/** When a schedule fires, and the job that it makes. */
export interface ScheduleInput {
  readonly name: string;
  /** Five fields: minute, hour, day of month, month, day of week. Or else `every`. */
  readonly cron?: string | undefined;
  /** An interval of a second or more, counted from the first upsert on. */
  readonly every?: Duration | undefined;
  /** An IANA time zone; default UTC. */
  readonly timezone?: string | undefined;
  /** The job, as `definition.with(payload, options)`. */
  readonly job: JobRequest;
  /** What becomes of instants that passed while no scheduler ran; default `latest`. */
  readonly catchUp?: CatchUp | undefined;
  /** How far back instants are made up for: 1 minute to 7 days, default 1 h. */
  readonly catchUpWindow?: Duration | undefined;
  /** What happens while the job of the instant before has not ended; default `skip`. */
  readonly overlap?: Overlap | undefined;
}

/** A schedule's input in stored form. */
export interface ReadScheduleInput {
  readonly cron: string | undefined;
  readonly everyMs: number | undefined;
  readonly timezone: string;
  readonly job: ScheduledJobTemplate;
  readonly catchUp: CatchUp;
  readonly catchUpWindowMs: number;
  readonly overlap: Overlap;
}

const inputNames = [
  ...['name', 'cron', 'every', 'timezone', 'job'],
  ...['catchUp', 'catchUpWindow', 'overlap'],
];
const dayMs = 86_400_000;

/**
 * Checks the input of a schedule and the payload of its job.
 *
 * @throws OptionsInvalidError, CronInvalidError, TimezoneInvalidError, PayloadInvalidError, PayloadTooLargeError
 */
export async function readScheduleInput(
  input: ScheduleInput,
  limitBytes: number,
): Promise<ReadScheduleInput> {
  // Callers in plain JavaScript hand in what they have.
  const given = input as Partial<ScheduleInput> | null | undefined;
  const check = new OptionCheck(callWith('schedules.upsert', given?.name));
  if (!check.names(input, inputNames)) check.done();
  check.name('the name', input.name);
  const { cron, every, timezone = 'UTC', job, catchUp = 'latest', overlap = 'skip' } = input;
  if ((cron === undefined) === (every === undefined)) {
    check.refuse('either cron or every must be set');
  }
  if (cron !== undefined && typeof cron !== 'string') check.refuse('cron must be a text');
  if (typeof timezone !== 'string') check.refuse('timezone must be a text');
  check.oneOf('catchUp', catchUp, catchUps);
  check.oneOf('overlap', overlap, overlaps);
  const everyMs = check.duration('every', every, { minMs: minEveryMs });
  const catchUpWindowMs =
    check.duration('catchUpWindow', input.catchUpWindow, { minMs: 60_000, maxMs: 7 * dayMs }) ??
    3_600_000;
  checkJob(check, job);
  check.done();
  const draft = await checkDraft({
    ...{ call: 'schedules.upsert', job: job.job, payload: job.payload, limitBytes },
    options: job.options,
  });
  return {
    cron: cron === undefined ? undefined : parseCron(cron, timezone).expression,
    timezone: canonicalTimezone(timezone),
    job: templateOf(draft),
    ...{ everyMs, catchUp, catchUpWindowMs, overlap },
  };
}

function checkJob(check: OptionCheck, job: unknown): void {
  if (!isJobRequest(job)) {
    check.refuse('job must be a job with a payload: use job.with(payload)');
    return;
  }
  for (const name of ['id', 'delay', 'runAt', 'unique', 'startDeadline'] as const) {
    if (job.options[name] !== undefined) check.refuse(`a scheduled job cannot have ${name}`);
  }
}

/** The settings to store: what has not changed keeps its anchor and its next instant. */
export function settingsOf(
  read: ReadScheduleInput,
  { before, now }: { readonly before: ScheduleView | undefined; readonly now: Date },
): ScheduleSettings {
  const { job, catchUp, catchUpWindowMs, overlap } = read;
  const kept = before !== undefined && isSameTiming(before.timing, read) ? before : undefined;
  const timing = kept?.timing ?? timingOf(read, now);
  return {
    ...{ timing, job, catchUp, catchUpWindowMs, overlap },
    nextFireAt: kept === undefined ? nextFireOf(timing, now) : kept.nextFireAt,
  };
}

/** The first instant after `now`; `undefined` when there is none. */
export function nextFireOf(timing: ScheduleTiming, now: Date): Date | undefined {
  return nextFire(ruleOf(timing), now);
}

function ruleOf(timing: ScheduleTiming): ScheduleRule {
  return 'cron' in timing
    ? parseCron(timing.cron, timing.timezone)
    : parseEvery(timing.everyMs, timing.anchorAt);
}

function timingOf({ cron, everyMs = 0, timezone }: ReadScheduleInput, now: Date): ScheduleTiming {
  return cron === undefined ? { everyMs, anchorAt: now, timezone } : { cron, timezone };
}

function isSameTiming(timing: ScheduleTiming, read: ReadScheduleInput): boolean {
  if (timing.timezone !== read.timezone) return false;
  return 'cron' in timing ? timing.cron === read.cron : timing.everyMs === read.everyMs;
}

function templateOf(draft: CheckedDraft): ScheduledJobTemplate {
  return {
    type: draft.draft.type,
    queue: queueOf(draft),
    payload: JSON.parse(draft.payloadJson),
    ...templateSettingsOf(fieldsOf(draft)),
  };
}
