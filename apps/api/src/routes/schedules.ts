import type { RouteName } from '@holdfast/contract';
import {
  deleteSchedule,
  insertSchedule,
  listFires,
  listSchedules,
  pauseSchedule,
  readClock,
  readSchedule,
  resumeSchedule,
  updateSchedule,
} from '@holdfast/database';
import type { Fire, Queryable, ScheduleKey, ScheduleView } from '@holdfast/database';
import { nextFires, uuidV7 } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { etagOf, expectedRevision } from '../http/etags.ts';
import { once } from '../http/idempotency.ts';
import { pageOf } from '../http/page.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentPreview } from '../presenters/preview.ts';
import { presentFire, presentSchedule } from '../presenters/schedule.ts';
import { changedSettings, newSettings, nextAfter, readCron } from '../schedule-settings.ts';

type ScheduleRoute = Exclude<
  Extract<RouteName, `${string}Schedule` | 'listSchedules' | 'listScheduleFires'>,
  'runScheduleNow'
>;

/** Schedules: jobs that are enqueued by the clock. */
export function scheduleHandlers(deps: Dependencies): Handlers<ScheduleRoute> {
  const { database, cursors, notifier } = deps;
  return {
    async listSchedules({ project, query }) {
      const scope = { list: 'schedules', projectId: project.id };
      const [afterName] = cursors.read(scope, query.cursor) ?? [];
      const { limit } = query;
      const page = { projectId: project.id, afterName, limit: limit + 1 };
      const schedules = await listSchedules(database, page);
      const position = ({ name }: ScheduleView) => cursors.write(scope, [name]);
      return { body: pageOf(schedules, limit, { present: presentSchedule, position }) };
    },

    async createSchedule(call) {
      const { name } = call.body;
      const settings = newSettings(call.body, await readClock(database));
      const key = { projectId: call.project.id, id: uuidV7(deps.clock.nowMs()) };
      const { status, headers, body } = await once(database, call, async (tx) => {
        const isNew = await insertSchedule(tx, { ...key, name, settings });
        if (!isNew) throw new HttpProblem('schedule_exists');
        const made = await requireSchedule(tx, key);
        return { status: 201, headers: etagHeader(made), body: presentSchedule(made) };
      });
      notifier.wakeSchedulers();
      return { status, headers: headers ?? {}, body };
    },

    async previewSchedule({ body }) {
      const rule = readCron(body.cron, body.timezone);
      const instants = nextFires(rule, { after: await readClock(database), count: body.count });
      return { body: { data: instants.map((at) => presentPreview(at, rule.timezone)) } };
    },

    async getSchedule(call) {
      const schedule = await requireSchedule(database, keyOf(call));
      return { headers: etagHeader(schedule), body: presentSchedule(schedule) };
    },

    async updateSchedule(call) {
      const key = keyOf(call);
      const ifMatch = expectedRevision(call.request.get('if-match'));
      const before = await requireSchedule(database, key);
      const settings = changedSettings(before, call.body, await readClock(database));
      // Also without If-Match: the new settings were made from what was just read.
      const revision = ifMatch ?? before.revision;
      const request = { ...key, settings, expectedRevision: revision };
      if ((await updateSchedule(database, request)) === undefined) {
        throw new HttpProblem('precondition_failed');
      }
      notifier.wakeSchedulers();
      const after = await requireSchedule(database, key);
      return { headers: etagHeader(after), body: presentSchedule(after) };
    },

    async deleteSchedule(call) {
      const isDeleted = await deleteSchedule(database, keyOf(call));
      if (!isDeleted) throw new HttpProblem('schedule_not_found');
      return { body: undefined };
    },

    async pauseSchedule(call) {
      const key = keyOf(call);
      const by = nameOf(call.principal);
      const isPaused = await pauseSchedule(database, { ...key, by, reason: call.body.reason });
      if (!isPaused) throw new HttpProblem('schedule_not_found');
      return { body: presentSchedule(await requireSchedule(database, key)) };
    },

    async resumeSchedule(call) {
      const key = keyOf(call);
      const { timing } = await requireSchedule(database, key);
      const nextFireAt = nextAfter(timing, await readClock(database));
      await resumeSchedule(database, { ...key, nextFireAt });
      notifier.wakeSchedulers();
      return { body: presentSchedule(await requireSchedule(database, key)) };
    },

    async listScheduleFires(call) {
      const key = keyOf(call);
      const { limit, cursor } = call.query;
      const scope = { list: 'fires', projectId: key.projectId, filter: key.id };
      const [before] = cursors.read(scope, cursor) ?? [];
      const at = before === undefined ? undefined : new Date(before);
      const fires = await listFires(database, { ...key, before: at, limit: limit + 1 });
      if (fires.length === 0) await requireSchedule(database, key);
      const position = ({ fireAt }: Fire) => cursors.write(scope, [fireAt.toISOString()]);
      return { body: pageOf(fires, limit, { present: presentFire, position }) };
    },
  };
}

function keyOf({ project, params }: Pick<Call<'getSchedule'>, 'project' | 'params'>): ScheduleKey {
  return { projectId: project.id, id: params.id };
}

/** @throws HttpProblem `schedule_not_found` */
export async function requireSchedule(db: Queryable, key: ScheduleKey): Promise<ScheduleView> {
  const schedule = await readSchedule(db, key);
  if (schedule === undefined) throw new HttpProblem('schedule_not_found');
  return schedule;
}

function etagHeader({ revision }: ScheduleView): Readonly<Record<string, string>> {
  return { etag: etagOf(revision) };
}
