import type { Job, RouteName } from '@holdfast/contract';
import { cancelJob, readJob, replayJob, retryJob, runJobNow } from '@holdfast/database';
import type { Database, JobActionResult, JobKey, ReplayResult } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Answer, Call, Handlers } from '../http/call.ts';
import { nameOf } from '../http/principal.ts';
import { HttpProblem } from '../http/problem.ts';
import { notInState, requireDone } from '../job-action-result.ts';
import { presentJob } from '../presenters/job.ts';

type JobActionRoute = Extract<RouteName, 'cancelJob' | 'retryJob' | 'runJobNow' | 'replayJob'>;

type OneJob = Pick<Call<'runJobNow'>, 'project' | 'params' | 'principal' | 'logger'>;

/** What a person does with one job. */
export function jobActionHandlers(deps: Dependencies): Handlers<JobActionRoute> {
  return {
    async cancelJob(call) {
      const key = keyOf(call);
      const reason = call.body.reason ?? 'cancelled';
      const result = await cancelJob(deps.database, { ...key, reason });
      if ('reason' in result) {
        throw result.reason === 'not_found'
          ? new HttpProblem('job_not_found')
          : notInState(result.status);
      }
      if (result.cancelled) deps.settler.kick();
      else deps.notifier.wakeWorker(result.requestedOf);
      return answerJob(deps, call, 'cancel');
    },
    retryJob: (call) => requeue(deps, call, { name: 'retry', act: retryJob }),
    runJobNow: (call) => requeue(deps, call, { name: 'run-now', act: runJobNow }),
    replayJob: (call) => requeue(deps, call, { name: 'replay', act: replayJob }),
  };
}

interface Action {
  readonly name: string;
  readonly act: (database: Database, key: JobKey) => Promise<JobActionResult | ReplayResult>;
}

async function requeue(
  deps: Dependencies,
  call: OneJob,
  { name, act }: Action,
): Promise<Answer<Job>> {
  const { queueId } = requireDone(await act(deps.database, keyOf(call)));
  deps.notifier.wakeQueues([queueId]);
  return answerJob(deps, call, name);
}

async function answerJob(deps: Dependencies, call: OneJob, action: string): Promise<Answer<Job>> {
  const key = keyOf(call);
  call.logger.info({ action, jobId: key.id, by: nameOf(call.principal) }, 'job action');
  const row = await readJob(deps.database, key);
  if (row === undefined) throw new HttpProblem('job_not_found');
  return { body: presentJob(row) };
}

function keyOf({ project, params }: OneJob): JobKey {
  return { projectId: project.id, id: params.id };
}
