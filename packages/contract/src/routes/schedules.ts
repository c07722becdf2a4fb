import { needs, projectBase, route } from '../route.ts';
import { Id } from '../schemas/values.ts';
import { EmptyInput } from '../schemas/job-input.ts';
import { list, page } from '../schemas/paging.ts';
import {
  PreviewInput,
  PreviewInstant,
  Schedule,
  ScheduleFire,
  ScheduleInput,
  SchedulePatch,
  SchedulePauseInput,
  SchedulesQuery,
} from '../schemas/schedules.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Schedules';
const params = ProjectParams.extend({ id: Id });
const all = `${projectBase}/schedules` as const;
const one = `${projectBase}/schedules/{id}` as const;
const configure = needs('schedule.configure');
const operate = needs('schedule.operate');

/** Schedules: jobs that are enqueued by the clock. */
export const scheduleRoutes = {
  listSchedules: route({
    method: 'get',
    path: all,
    tag,
    summary: 'The schedules, by name',
    access: needs('project.read'),
    params: ProjectParams,
    query: SchedulesQuery,
    statuses: [200],
    response: page(Schedule),
  }),
  createSchedule: route({
    method: 'post',
    path: all,
    tag,
    summary: 'Create a schedule; it never fires for the past',
    access: configure,
    params: ProjectParams,
    body: ScheduleInput,
    statuses: [201],
    response: Schedule,
    idempotent: true,
    etag: 'answered',
  }),
  previewSchedule: route({
    method: 'post',
    path: `${all}/preview`,
    tag,
    summary: 'The next instants of a cron expression',
    access: needs('project.read'),
    params: ProjectParams,
    body: PreviewInput,
    statuses: [200],
    response: list(PreviewInstant),
  }),
  getSchedule: route({
    method: 'get',
    path: one,
    tag,
    summary: 'One schedule',
    access: needs('project.read'),
    params,
    statuses: [200],
    response: Schedule,
    etag: 'answered',
  }),
  updateSchedule: route({
    method: 'patch',
    path: one,
    tag,
    summary: 'Change a schedule',
    access: configure,
    params,
    body: SchedulePatch,
    statuses: [200],
    response: Schedule,
    etag: 'checked',
  }),
  deleteSchedule: route({
    method: 'delete',
    path: one,
    tag,
    summary: 'Delete a schedule; its jobs stay',
    access: configure,
    params,
    statuses: [204],
    response: undefined,
  }),
  pauseSchedule: route({
    method: 'post',
    path: `${one}/pause`,
    tag,
    summary: 'Fire no more; the instants in between are recorded as skipped',
    access: operate,
    params,
    body: SchedulePauseInput,
    statuses: [200],
    response: Schedule,
  }),
  resumeSchedule: route({
    method: 'post',
    path: `${one}/resume`,
    tag,
    summary: 'Fire again, from the next instant on',
    access: operate,
    params,
    body: EmptyInput,
    statuses: [200],
    response: Schedule,
  }),
  runScheduleNow: route({
    method: 'post',
    path: `${one}/run-now`,
    tag,
    summary: 'Enqueue the job of the schedule now, beside its instants',
    access: operate,
    params,
    body: EmptyInput,
    statuses: [201],
    response: ScheduleFire,
    idempotent: true,
  }),
  listScheduleFires: route({
    method: 'get',
    path: `${one}/fires`,
    tag,
    summary: 'What became of each due instant, newest first',
    access: needs('project.read'),
    params,
    query: SchedulesQuery,
    statuses: [200],
    response: page(ScheduleFire),
  }),
} as const;
