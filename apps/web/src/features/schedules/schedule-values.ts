import type { Schedule } from '@holdfast/contract';
import type { NewSchedule } from '../../api/schedules.ts';
import { viewerTimeZone } from '../../format/time.ts';
import { parseJson } from '../../ui/json/parse-json.ts';

/** A schedule as the form has it. */
export interface ScheduleValues {
  readonly name: string;
  readonly rhythm: 'cron' | 'every';
  readonly cron: string;
  /** A duration such as `5m`. */
  readonly every: string;
  readonly timezone: string;
  readonly type: string;
  readonly queue: string;
  readonly payload: string;
  readonly catchUp: Schedule['catchUp'];
  readonly overlap: Schedule['overlap'];
}

const newScheduleValues: ScheduleValues = {
  name: '',
  rhythm: 'cron',
  cron: '0 6 * * *',
  every: '5m',
  timezone: 'UTC',
  type: 'http.request',
  queue: 'default',
  payload: '{\n  "url": "https://example.com",\n  "method": "GET"\n}',
  catchUp: 'latest',
  overlap: 'skip',
};

/** What the form starts with. */
export function scheduleValues(schedule: Schedule | undefined): ScheduleValues {
  if (schedule === undefined) return { ...newScheduleValues, timezone: viewerTimeZone() };
  const { name, cron, every, timezone, job, catchUp, overlap } = schedule;
  return {
    name,
    rhythm: cron === null ? 'every' : 'cron',
    cron: cron ?? newScheduleValues.cron,
    every: every ?? newScheduleValues.every,
    timezone,
    type: job.type,
    queue: job.queue,
    payload: JSON.stringify(job.payload ?? null, undefined, 2),
    catchUp,
    overlap,
  };
}

/** What can be said to be wrong before the API is asked. */
export function scheduleProblems(values: ScheduleValues) {
  const payload = parseJson(values.payload);
  return {
    name: values.name.trim() === '' ? 'It needs a name' : null,
    cron: values.rhythm === 'cron' && values.cron.trim() === '' ? 'When does it fire?' : null,
    every: values.rhythm === 'every' && values.every.trim() === '' ? 'How often?' : null,
    type: values.type.trim() === '' ? 'Which handler runs it?' : null,
    payload: payload.ok ? null : payload.message,
  };
}

/** The schedule as the API takes it. What the form does not show of its job stays as it was. */
export function scheduleInput(values: ScheduleValues, before: Schedule | undefined): NewSchedule {
  const payload = parseJson(values.payload);
  const kept = before === undefined ? {} : keptOf(before.job);
  return {
    name: values.name.trim(),
    ...(values.rhythm === 'cron' ? { cron: values.cron.trim() } : { every: values.every.trim() }),
    timezone: values.timezone,
    catchUp: values.catchUp,
    overlap: values.overlap,
    job: {
      ...kept,
      type: values.type.trim(),
      queue: values.queue.trim(),
      ...(payload.ok && payload.value !== undefined ? { payload: payload.value } : {}),
    },
  };
}

function keptOf({ backoff, tags, ...job }: Schedule['job']): Partial<NewSchedule['job']> {
  return {
    ...job,
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(backoff === undefined ? {} : { backoff: mutable(backoff) }),
  };
}

function mutable(backoff: NonNullable<Schedule['job']['backoff']>) {
  return backoff.kind === 'list' ? { ...backoff, delays: [...backoff.delays] } : backoff;
}
