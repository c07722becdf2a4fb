import type { RouteName, Worker } from '@holdfast/contract';
import { listWorkers, readWorker, requestWorkerStatus } from '@holdfast/database';
import type { WorkerMode } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Answer, Call, Handlers } from '../http/call.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentWorker } from '../presenters/worker.ts';

type WorkerRoute = Extract<
  RouteName,
  'listWorkers' | 'quietWorker' | 'resumeWorker' | 'stopWorker'
>;

/** Worker processes, and what people ask of them. */
export function workerHandlers(deps: Dependencies): Handlers<WorkerRoute> {
  return {
    async listWorkers({ project }) {
      const rows = await listWorkers(deps.database, project.id);
      return { body: { data: rows.map(presentWorker) } };
    },
    quietWorker: (call) => ask(deps, call, 'quiet'),
    resumeWorker: (call) => ask(deps, call, 'active'),
    stopWorker: (call) => ask(deps, call, 'stopping'),
  };
}

async function ask(
  { database, notifier }: Dependencies,
  call: Pick<Call<'quietWorker'>, 'project' | 'params' | 'principal' | 'logger'>,
  status: WorkerMode,
): Promise<Answer<Worker>> {
  const key = { projectId: call.project.id, id: call.params.id };
  await requestWorkerStatus(database, { ...key, status });
  const row = await readWorker(database, key);
  if (row === undefined) throw new HttpProblem('worker_not_found');
  notifier.wakeWorker(key.id);
  call.logger.info({ workerId: key.id, status, by: nameOf(call.principal) }, 'worker asked');
  return { body: presentWorker(row) };
}
