import type { RouteName } from '@holdfast/contract';
import {
  countLeasedJobs,
  findQueue,
  pauseQueue,
  purgeQueue,
  readQueue,
  resumeQueue,
} from '@holdfast/database';
import type { QueueKey, QueueView, Queryable } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { requireNotFar } from '../http/clock-checks.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { presentQueue } from '../presenters/queue.ts';
import type { QueuePages } from '../queue-pages.ts';

type QueueActionRoute = Extract<
  RouteName,
  'pauseQueue' | 'resumeQueue' | 'drainQueue' | 'purgeQueue'
>;

/** What an operator does with a queue. */
export function queueActionHandlers(
  deps: Dependencies,
  pages: QueuePages,
): Handlers<QueueActionRoute> {
  const { database, notifier, settler } = deps;
  return {
    async pauseQueue(call) {
      const row = await pause(deps, call);
      pages.forget();
      return { body: presentQueue(row) };
    },

    async resumeQueue(call) {
      const key = queueKeyOf(call);
      const id = await resumeQueue(database, key);
      if (id === undefined) throw new HttpProblem('queue_not_found');
      pages.forget();
      notifier.wakeQueues([id]);
      return { body: presentQueue(await requireQueue(database, key)) };
    },

    async drainQueue(call) {
      const row = await pause(deps, call);
      pages.forget();
      const remaining = await countLeasedJobs(database, row.id);
      return { body: { queue: presentQueue(row), remaining, drained: remaining === 0 } };
    },

    async purgeQueue(call) {
      const key = queueKeyOf(call);
      const queue = await findQueue(database, key);
      if (queue === undefined) throw new HttpProblem('queue_not_found');
      if (call.body.confirm !== key.name) {
        throw validationFailed([{ pointer: '/confirm', detail: 'must be the name of the queue' }]);
      }
      const request = { projectId: key.projectId, queueId: queue.id, reason: 'purged' };
      const purged = await purgeQueue(database, request);
      settler.kick();
      pages.forget();
      return { body: { purged } };
    },
  };
}

/** Which queue a request is about. */
export function queueKeyOf({
  project,
  params,
}: Pick<Call<'getQueue'>, 'project' | 'params'>): QueueKey {
  return { projectId: project.id, name: params.queue };
}

/**
 * A queue that must exist.
 *
 * @throws HttpProblem `queue_not_found`
 */
export async function requireQueue(db: Queryable, key: QueueKey): Promise<QueueView> {
  const row = await readQueue(db, key);
  if (row === undefined) throw new HttpProblem('queue_not_found');
  return row;
}

async function pause(
  { database, clock }: Dependencies,
  call: Pick<Call<'pauseQueue'>, 'project' | 'params' | 'body' | 'principal'>,
): Promise<QueueView> {
  const { reason } = call.body;
  const until = requireNotFar(call.body.until, { pointer: '/until', clock });
  if (until !== undefined && until.getTime() <= clock.nowMs()) {
    throw validationFailed([{ pointer: '/until', detail: 'must not have passed' }]);
  }
  const key = queueKeyOf(call);
  const by = nameOf(call.principal);
  if ((await pauseQueue(database, { ...key, by, reason, until })) === undefined) {
    throw new HttpProblem('queue_not_found');
  }
  return requireQueue(database, key);
}
