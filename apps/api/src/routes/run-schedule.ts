import type { RouteName } from '@holdfast/contract';
import { enqueueJobs, jobOfFire, readClock, recordFire, resolveQueues } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
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
      const { projectId } = key;
      const queues = await resolveQueues(database, projectId, [schedule.job.queue]);
      let queueIds: readonly string[] = [];
      const { status, headers, body } = await once(database, call, async (tx) => {
        const fireAt = await readClock(tx);
        const jobId = uuidV7(fireAt.getTime());
        const job = jobOfFire(schedule, { jobId, fireAt });
        const fire = { ...key, fireAt, outcome: 'manual', jobId } as const;
        // Two runs within one millisecond are one.
        if (!(await recordFire(tx, fire))) throw new HttpProblem('overloaded');
        const made = await enqueueJobs(database, { projectId, jobs: [job], queues, tx });
        queueIds = made.queueIds;
        return { status: 201, body: presentFire({ ...fire, recordedAt: fireAt }) };
      });
      notifier.wakeQueues(queueIds);
      return { status, headers: headers ?? {}, body };
    },
  };
}
