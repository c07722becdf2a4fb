import type { RouteName } from '@holdfast/contract';
import {
  deleteSchedule,
  insertSchedule,
  listSchedules,
  readClock,
  updateSchedule,
} from '@holdfast/database';
import type { ScheduleView } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { changeAtRevision, etagOf } from '../http/etags.ts';
import { once } from '../http/idempotency.ts';
import { pageOf } from '../http/page.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentSchedule } from '../presenters/schedule.ts';
import { changedSettings, newSettings } from '../schedule-settings.ts';
import { requireSchedule, scheduleKeyOf } from './schedule-actions.ts';

type ScheduleRoute = Extract<
  RouteName,
  'listSchedules' | 'createSchedule' | 'getSchedule' | 'updateSchedule' | 'deleteSchedule'
>;

/** Schedules and their settings. */
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

    async getSchedule(call) {
      const schedule = await requireSchedule(database, scheduleKeyOf(call));
      return { headers: etagHeader(schedule), body: presentSchedule(schedule) };
    },

    async updateSchedule(call) {
      const key = scheduleKeyOf(call);
      await changeAtRevision(call.request.get('if-match'), async (asked) => {
        const before = await requireSchedule(database, key);
        const settings = changedSettings(before, call.body, await readClock(database));
        const request = { ...key, settings, expectedRevision: asked ?? before.revision };
        return updateSchedule(database, request);
      });
      notifier.wakeSchedulers();
      const after = await requireSchedule(database, key);
      return { headers: etagHeader(after), body: presentSchedule(after) };
    },

    async deleteSchedule(call) {
      const isDeleted = await deleteSchedule(database, scheduleKeyOf(call));
      if (!isDeleted) throw new HttpProblem('schedule_not_found');
      return { body: undefined };
    },
  };
}

function etagHeader({ revision }: ScheduleView): Readonly<Record<string, string>> {
  return { etag: etagOf(revision) };
}
