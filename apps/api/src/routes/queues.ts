import type { QueueInput, QueuePatch, RouteName } from '@holdfast/contract';
import { createQueue, deleteQueue, findQueue, updateQueue } from '@holdfast/database';
import type { Database, QueueJobDefaults, QueueView } from '@holdfast/database';
import { defaultRetryPolicy } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { changeAtRevision, etagOf } from '../http/etags.ts';
import { once } from '../http/idempotency.ts';
import { pageOf } from '../http/page.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentQueue } from '../presenters/queue.ts';
import type { QueuePages } from '../queue-pages.ts';
import { retryFromInput } from '../retry-from-input.ts';
import { queueKeyOf, requireQueue } from './queue-actions.ts';

type QueueRoute = Extract<
  RouteName,
  'listQueues' | 'createQueue' | 'getQueue' | 'updateQueue' | 'deleteQueue'
>;

/** Queues and their settings. */
export function queueHandlers(deps: Dependencies, pages: QueuePages): Handlers<QueueRoute> {
  const { database, cursors, notifier } = deps;
  return {
    async listQueues({ project, query }) {
      const scope = { list: 'queues', projectId: project.id };
      const [afterName] = cursors.read(scope, query.cursor) ?? [];
      const { limit } = query;
      const page = { projectId: project.id, afterName, limit: limit + 1 };
      const rows = await pages.read(page);
      const position = (row: QueueView) => cursors.write(scope, [row.name]);
      return { body: pageOf(rows, limit, { present: presentQueue, position }) };
    },

    async createQueue(call) {
      const { status, headers, body } = await create(database, call);
      pages.forget();
      return { status, headers: headers ?? {}, body };
    },

    async getQueue(call) {
      const row = await requireQueue(database, queueKeyOf(call));
      return { headers: etagHeader(row), body: presentQueue(row) };
    },

    async updateQueue(call) {
      const key = queueKeyOf(call);
      const before = await update(database, call);
      pages.forget();
      // A wider limit lets jobs start that wait for one.
      notifier.wakeQueues([before.id]);
      const row = await requireQueue(database, key);
      return { headers: etagHeader(row), body: presentQueue(row) };
    },

    async deleteQueue(call) {
      const key = queueKeyOf(call);
      if (await deleteQueue(database, key)) {
        pages.forget();
        return { body: undefined };
      }
      const exists = (await findQueue(database, key)) !== undefined;
      throw new HttpProblem(exists ? 'queue_not_empty' : 'queue_not_found');
    },
  };
}

/** Makes the queue, once however often the request comes. */
function create(database: Database, call: Call<'createQueue'>) {
  const key = { projectId: call.project.id, name: call.body.name };
  return once(database, call, async (tx) => {
    const settings = settingsOf(call.body, undefined);
    if ((await createQueue(database, { ...key, settings, tx })) === undefined) {
      throw new HttpProblem('queue_exists');
    }
    const row = await requireQueue(tx, key);
    return { status: 201, headers: etagHeader(row), body: presentQueue(row) };
  });
}

/** Changes the settings if nobody else did meanwhile. @returns the queue as it was before */
function update(database: Database, call: Call<'updateQueue'>): Promise<QueueView> {
  const key = queueKeyOf(call);
  return changeAtRevision(call.request.get('if-match'), async (asked) => {
    const found = await requireQueue(database, key);
    const revision = await updateQueue(database, {
      ...key,
      settings: settingsOf(call.body, found),
      expectedRevision: asked ?? found.revision,
    });
    return revision === undefined ? undefined : found;
  });
}

function etagHeader(row: QueueView): Readonly<Record<string, string>> {
  return { etag: etagOf(row.revision) };
}

interface ReadSettings {
  readonly concurrency?: number | null;
  readonly jobDefaults?: QueueJobDefaults;
}

/** The settings to store: what is not named stays as it was. */
function settingsOf(input: QueueInput | QueuePatch, before: QueueView | undefined): ReadSettings {
  const { concurrency } = input;
  const named = defaultsFrom(input, before?.jobDefaults.retry);
  const isNamed = Object.keys(named).length > 0;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(isNamed ? { jobDefaults: { ...before?.jobDefaults, ...named } } : {}),
  };
}

function defaultsFrom(
  input: QueueInput | QueuePatch,
  before: RetryPolicy | undefined,
): QueueJobDefaults {
  const { maxAttempts, timeout } = input;
  const retry = retryFromInput(input);
  return {
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(retry === undefined ? {} : { retry: { ...defaultRetryPolicy, ...before, ...retry } }),
  };
}
