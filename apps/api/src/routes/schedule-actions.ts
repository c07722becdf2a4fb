import type { RouteName } from '@holdfast/contract';
import {
  listFires,
  pauseSchedule,
  readClock,
  readSchedule,
  resumeSchedule,
} from '@holdfast/database';
import type { Fire, Queryable, ScheduleKey, ScheduleView } from '@holdfast/database';
import { nextFires } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { pageOf } from '../http/page.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentPreview } from '../presenters/preview.ts';
import { presentFire, presentSchedule } from '../presenters/schedule.ts';
import { nextAfter, readCron } from '../schedule-settings.ts';

type ScheduleActionRoute = Extract<
  RouteName,
  'previewSchedule' | 'pauseSchedule' | 'resumeSchedule' | 'listScheduleFires'
>;

/** What people do with a schedule, and what it did. */
export function scheduleActionHandlers(deps: Dependencies): Handlers<ScheduleActionRoute> {
  const { database, cursors, notifier } = deps;
  return {
    async previewSchedule({ body }) {
      const rule = readCron(body.cron, body.timezone);
      const instants = nextFires(rule, { after: await readClock(database), count: body.count });
      return { body: { data: instants.map((at) => presentPreview(at, rule.timezone)) } };
    },

    async pauseSchedule(call) {
      const key = scheduleKeyOf(call);
      const by = nameOf(call.principal);
      const isPaused = await pauseSchedule(database, { ...key, by, reason: call.body.reason });
      if (!isPaused) throw new HttpProblem('schedule_not_found');
      return { body: presentSchedule(await requireSchedule(database, key)) };
    },

    async resumeSchedule(call) {
      const key = scheduleKeyOf(call);
      const { timing } = await requireSchedule(database, key);
      const nextFireAt = nextAfter(timing, await readClock(database));
      await resumeSchedule(database, { ...key, nextFireAt });
      notifier.wakeSchedulers();
      return { body: presentSchedule(await requireSchedule(database, key)) };
    },

    async listScheduleFires(call) {
      const key = scheduleKeyOf(call);
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

/** Which schedule a request is about. */
export function scheduleKeyOf({
  project,
  params,
}: Pick<Call<'getSchedule'>, 'project' | 'params'>): ScheduleKey {
  return { projectId: project.id, id: params.id };
}

/**
 * A schedule that must exist.
 *
 * @throws HttpProblem `schedule_not_found`
 */
export async function requireSchedule(db: Queryable, key: ScheduleKey): Promise<ScheduleView> {
  const schedule = await readSchedule(db, key);
  if (schedule === undefined) throw new HttpProblem('schedule_not_found');
  return schedule;
}
