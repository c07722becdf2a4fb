import type { RouteName } from '@holdfast/contract';
import { enqueueJobs, jobOfFire, readClock, recordFire, resolveQueues } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { Queryable, ScheduleKey } from '@holdfast/database';
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
        const fire = await recordManualFire(tx, key);
        const job = jobOfFire(schedule, fire);
        const made = await enqueueJobs(database, { projectId, jobs: [job], queues, tx });
        queueIds = made.queueIds;
        return { status: 201, body: presentFire({ ...fire, recordedAt: fire.fireAt }) };
      });
      notifier.wakeQueues(queueIds);
      return { status, headers: headers ?? {}, body };
    },
  };
}

/** A schedule has at most one fire a millisecond; runs that come together take the next free ones. */
async function recordManualFire(tx: Queryable, key: ScheduleKey) {
  const nowMs = (await readClock(tx)).getTime();
  for (let laterMs = 0; laterMs < mostRunsAtOnce; laterMs += 1) {
    const fireAt = new Date(nowMs + laterMs);
    const fire = { ...key, fireAt, outcome: 'manual', jobId: uuidV7(nowMs) } as const;
    if (await recordFire(tx, fire)) return fire;
  }
  throw new HttpProblem('overloaded', { headers: { 'retry-after': '1' } });
}

const mostRunsAtOnce = 100;
