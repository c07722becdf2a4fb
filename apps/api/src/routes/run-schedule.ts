import type { RouteName } from '@holdfast/contract';
import { resolveQueues, runSchedule } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { once } from '../http/idempotency.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentFire } from '../presenters/schedule.ts';
import { requireSchedule } from './schedule-actions.ts';

/** Running a schedule by hand: a fire of its own, beside the due instants. */
export function runScheduleHandlers(
  deps: Dependencies,
): Handlers<Extract<RouteName, 'runScheduleNow'>> {
  const { database, notifier } = deps;
  return {
    async runScheduleNow(call) {
      const key = { projectId: call.project.id, id: call.params.id };
      const schedule = await requireSchedule(database, key);
      const queues = await resolveQueues(database, key.projectId, [schedule.job.queue]);
      let queueIds: readonly string[] = [];
      const { status, headers, body } = await once(database, call, async (tx) => {
        const run = await runSchedule(database, { schedule, queues, tx });
        if (run === undefined) {
          throw new HttpProblem('overloaded', { headers: { 'retry-after': '1' } });
        }
        const { fireAt, jobId, enqueued } = run;
        queueIds = enqueued.queueIds;
        const fire = { fireAt, jobId, outcome: 'manual', recordedAt: fireAt } as const;
        return { status: 201, body: presentFire(fire) };
      });
      notifier.wakeQueues(queueIds);
      return { status, headers: headers ?? {}, body };
    },
  };
}
