import type { RouteName } from '@holdfast/contract';
import {
  cancelBatch,
  listBatchDependencies,
  listBatchJobs,
  listBatches,
  listJobs,
  readBatch,
  retryFailedOfBatch,
} from '@holdfast/database';
import type { BatchView, JobSummaryRow } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { pageOf } from '../http/page.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentBatch, presentBatchSummary, presentGraph } from '../presenters/batch.ts';
import { presentJobSummary } from '../presenters/job.ts';

type BatchRoute = Extract<
  RouteName,
  'listBatches' | 'getBatch' | 'getGraph' | 'listBatchJobs' | 'cancelBatch' | 'retryFailedOfBatch'
>;

type OneBatch = Pick<Call<'getBatch'>, 'project' | 'params'>;

/** Reading batches, chains and graphs, and what a person does with one. */
export function batchHandlers(deps: Dependencies): Handlers<BatchRoute> {
  const { database, cursors, notifier, settler } = deps;
  return {
    async listBatches({ project, query }) {
      const { limit, cursor, kind } = query;
      const scope = { list: 'batches', projectId: project.id, filter: { kind } };
      const [beforeId] = cursors.read(scope, cursor) ?? [];
      const request = { projectId: project.id, beforeId, kind, limit: limit + 1 };
      const batches = await listBatches(database, request);
      const position = ({ id }: BatchView) => cursors.write(scope, [id]);
      return { body: pageOf(batches, limit, { present: presentBatchSummary, position }) };
    },

    getBatch: async (call) => ({ body: presentBatch(await requireBatch(deps, call)) }),

    async getGraph(call) {
      const key = keyOf(call);
      const batch = await requireBatch(deps, call);
      const jobs = await listBatchJobs(database, key);
      const edges = await listBatchDependencies(database, key);
      return { body: presentGraph(batch, { jobs, edges }) };
    },

    async listBatchJobs(call) {
      const { limit, cursor, status } = call.query;
      const { projectId, id } = keyOf(call);
      const scope = { list: 'batch-jobs', projectId, filter: { id, status } };
      const [beforeId] = cursors.read(scope, cursor) ?? [];
      const request = { projectId, batchId: id, statuses: status, beforeId, limit: limit + 1 };
      const rows = await listJobs(database, request);
      if (rows.length === 0) await requireBatch(deps, call);
      const position = (row: JobSummaryRow) => cursors.write(scope, [row.id]);
      return { body: pageOf(rows, limit, { present: presentJobSummary, position }) };
    },

    async cancelBatch(call) {
      const key = keyOf(call);
      const reason = call.body.reason ?? 'cancelled';
      const done = await cancelBatch(database, { ...key, reason });
      if (!done.cancelled) {
        const { status } = await requireBatch(deps, call);
        throw new HttpProblem('batch_not_open', { extra: { batchStatus: status } });
      }
      for (const workerId of done.requestedOf) notifier.wakeWorker(workerId);
      settler.kick();
      logAction(call, 'cancel');
      return { body: presentBatch(await requireBatch(deps, call)) };
    },

    async retryFailedOfBatch(call) {
      await requireBatch(deps, call);
      const { retriedCount, queueIds } = await retryFailedOfBatch(database, keyOf(call));
      notifier.wakeQueues(queueIds);
      settler.kick();
      logAction(call, 'retry-failed');
      return { body: { ...presentBatch(await requireBatch(deps, call)), retriedCount } };
    },
  };
}

function keyOf({ project, params }: OneBatch) {
  return { projectId: project.id, id: params.id };
}

async function requireBatch({ database }: Dependencies, call: OneBatch): Promise<BatchView> {
  const batch = await readBatch(database, keyOf(call));
  if (batch === undefined) throw new HttpProblem('batch_not_found');
  return batch;
}

function logAction(
  { logger, params, principal }: Pick<Call<'cancelBatch'>, 'logger' | 'params' | 'principal'>,
  action: string,
): void {
  logger.info({ action, batchId: params.id, by: nameOf(principal) }, 'batch action');
}
