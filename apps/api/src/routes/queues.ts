import type { QueueInput, QueuePatch, RouteName } from '@holdfast/contract';
import {
  countLeasedJobs,
  createQueue,
  deleteQueue,
  findQueue,
  listQueues,
  pauseQueue,
  purgeQueue,
  readQueue,
  resumeQueue,
  updateQueue,
} from '@holdfast/database';
import type { QueueJobDefaults, QueueKey, QueueRow, Queryable } from '@holdfast/database';
import { defaultRetryPolicy } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { requireNotFar } from '../http/clock-checks.ts';
import { etagOf, expectedRevision } from '../http/etags.ts';
import { once } from '../http/idempotency.ts';
import { pageOf } from '../http/page.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { presentQueue } from '../presenters/queue.ts';

type QueueRoute = Extract<
  RouteName,
  | 'listQueues'
  | 'createQueue'
  | 'getQueue'
  | 'updateQueue'
  | 'deleteQueue'
  | 'pauseQueue'
  | 'resumeQueue'
  | 'drainQueue'
  | 'purgeQueue'
>;

/** Queues: settings, and what an operator does with them. */
export function queueHandlers(deps: Dependencies): Handlers<QueueRoute> {
  const { database, cursors, notifier } = deps;
  return {
    async listQueues({ project, query }) {
      const scope = { list: 'queues', projectId: project.id };
      const [afterName] = cursors.read(scope, query.cursor) ?? [];
      const { limit } = query;
      const page = { projectId: project.id, afterName, limit: limit + 1 };
      const rows = await listQueues(database, page);
      const position = (row: QueueRow) => cursors.write(scope, [row.name]);
      return { body: pageOf(rows, limit, { present: presentQueue, position }) };
    },

    async createQueue(call) {
      const key = { projectId: call.project.id, name: call.body.name };
      const { status, headers, body } = await once(database, call, async (tx) => {
        const settings = settingsOf(call.body, undefined);
        if ((await createQueue(database, { ...key, settings, tx })) === undefined) {
          throw new HttpProblem('queue_exists');
        }
        const row = await requireQueue(tx, key);
        return { status: 201, headers: etagHeader(row), body: presentQueue(row) };
      });
      return { status, headers: headers ?? {}, body };
    },

    async getQueue(call) {
      const row = await requireQueue(database, keyOf(call));
      return { headers: etagHeader(row), body: presentQueue(row) };
    },

    async updateQueue(call) {
      const key = keyOf(call);
      const before = await requireQueue(database, key);
      const ifMatch = expectedRevision(call.request.get('if-match'));
      const revision = await updateQueue(database, {
        ...key,
        settings: settingsOf(call.body, before),
        // Also without If-Match: the new settings were made from what was just read.
        expectedRevision: ifMatch ?? before.revision,
      });
      if (revision === undefined) throw new HttpProblem('precondition_failed');
      // A wider limit lets jobs start that wait for one.
      notifier.wakeQueues([before.id]);
      const row = await requireQueue(database, key);
      return { headers: etagHeader(row), body: presentQueue(row) };
    },

    async deleteQueue(call) {
      const key = keyOf(call);
      if (await deleteQueue(database, key)) return { body: undefined };
      const exists = (await findQueue(database, key)) !== undefined;
      throw new HttpProblem(exists ? 'queue_not_empty' : 'queue_not_found');
    },

    async pauseQueue(call) {
      return { body: presentQueue(await pause(deps, call)) };
    },

    async resumeQueue(call) {
      const key = keyOf(call);
      const id = await resumeQueue(database, key);
      if (id === undefined) throw new HttpProblem('queue_not_found');
      notifier.wakeQueues([id]);
      return { body: presentQueue(await requireQueue(database, key)) };
    },

    async drainQueue(call) {
      const row = await pause(deps, call);
      const remaining = await countLeasedJobs(database, row.id);
      return { body: { queue: presentQueue(row), remaining, drained: remaining === 0 } };
    },

    async purgeQueue(call) {
      const key = keyOf(call);
      const queue = await findQueue(database, key);
      if (queue === undefined) throw new HttpProblem('queue_not_found');
      if (call.body.confirm !== key.name) {
        throw validationFailed([{ pointer: '/confirm', detail: 'must be the name of the queue' }]);
      }
      const request = { projectId: key.projectId, queueId: queue.id, reason: 'purged' };
      return { body: { purged: await purgeQueue(database, request) } };
    },
  };
}

type OneQueue = Pick<Call<'getQueue'>, 'project' | 'params'>;

function keyOf({ project, params }: OneQueue): QueueKey {
  return { projectId: project.id, name: params.queue };
}

async function requireQueue(db: Queryable, key: QueueKey): Promise<QueueRow> {
  const row = await readQueue(db, key);
  if (row === undefined) throw new HttpProblem('queue_not_found');
  return row;
}

async function pause(
  { database, clock }: Dependencies,
  call: Pick<Call<'pauseQueue'>, 'project' | 'params' | 'body' | 'principal'>,
): Promise<QueueRow> {
  const { reason } = call.body;
  const until = requireNotFar(call.body.until, { pointer: '/until', clock });
  if (until !== undefined && until.getTime() <= clock.nowMs()) {
    throw validationFailed([{ pointer: '/until', detail: 'must not have passed' }]);
  }
  const key = keyOf(call);
  const by = nameOf(call.principal);
  if ((await pauseQueue(database, { ...key, by, reason, until })) === undefined) {
    throw new HttpProblem('queue_not_found');
  }
  return requireQueue(database, key);
}

function etagHeader(row: QueueRow): Readonly<Record<string, string>> {
  return { etag: etagOf(row.revision) };
}

interface ReadSettings {
  readonly concurrency?: number | null;
  readonly jobDefaults?: QueueJobDefaults;
}

/** The settings to store: what is not named stays as it was. */
function settingsOf(input: QueueInput | QueuePatch, before: QueueRow | undefined): ReadSettings {
  const { concurrency, retry } = input;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(retry === undefined ? {} : { jobDefaults: defaultsOf(retry, before?.job_defaults ?? {}) }),
  };
}

function defaultsOf(
  { policy, backoff, ...retry }: NonNullable<QueueInput['retry']>,
  before: QueueJobDefaults,
): QueueJobDefaults {
  // Written by this API and the SDK only, in the form of the domain.
  const stored = (before.retry as RetryPolicy | undefined) ?? defaultRetryPolicy;
  const isNamed = policy !== undefined || backoff !== undefined;
  return {
    ...before,
    ...(retry.maxAttempts === undefined ? {} : { maxAttempts: retry.maxAttempts }),
    ...(retry.timeout === undefined ? {} : { timeoutMs: retry.timeout }),
    ...(isNamed
      ? { retry: { mode: policy ?? stored.mode, backoff: backoff ?? stored.backoff } }
      : {}),
  };
}
