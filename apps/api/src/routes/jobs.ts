import type { RouteName } from '@holdfast/contract';
import {
  editJob,
  listExecutions,
  listJobLogs,
  listParentEdges,
  readJob,
  readJobStatus,
} from '@holdfast/database';
import type { JobKey, LogLineRow } from '@holdfast/database';
import { isEnded, parseDurationMs } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { requireNotFar } from '../http/clock-checks.ts';
import { pageOf } from '../http/page.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { payloadJsonOf } from '../jobs-from-input.ts';
import { requireDone } from '../job-action-result.ts';
import { presentExecution, presentLogLine } from '../presenters/execution.ts';
import { presentJob, presentJobDetail } from '../presenters/job.ts';

type JobRoute = Extract<RouteName, 'getJob' | 'updateJob' | 'listExecutions' | 'listJobLogs'>;

const longestWaitMs = 60_000;
const lookEveryMs = 250;

/** Reading one job, and changing it while it has not started. */
export function jobHandlers(deps: Dependencies): Handlers<JobRoute> {
  const { database, cursors, watch } = deps;
  return {
    async getJob(call) {
      const key = keyOf(call);
      await waitForEnd(deps, call);
      const [job, executions, parents] = await watch.guard(
        Promise.all([
          readJob(database, key),
          listExecutions(database, key),
          listParentEdges(database, key),
        ]),
      );
      if (job === undefined) throw new HttpProblem('job_not_found');
      return { body: presentJobDetail(job, executions, parents) };
    },

    async updateJob(call) {
      const key = keyOf(call);
      const { payload, payloadVersion, priority, runAt, tags } = call.body;
      const edit = {
        payloadJson: payload === undefined ? undefined : payloadJsonOf(payload, ''),
        payloadVersion,
        priority,
        tags,
        runAt: requireNotFar(runAt, { pointer: '/runAt', clock: deps.clock }),
      };
      requireDone(await editJob(database, { ...key, edit }));
      if (runAt !== undefined) deps.notifier.wakeSchedulers();
      return { body: presentJob(await requireJob(deps, key)) };
    },

    async listExecutions(call) {
      const key = keyOf(call);
      const rows = await listExecutions(database, key);
      if (rows.length === 0) await requireJob(deps, key);
      return { body: { data: rows.map(presentExecution) } };
    },

    async listJobLogs(call) {
      const { limit, cursor, execution } = call.query;
      const key = keyOf(call);
      const scope = { list: 'logs', projectId: key.projectId, filter: { id: key.id, execution } };
      const after = cursors.read(scope, cursor);
      const rows = await listJobLogs(database, {
        ...key,
        executionSeq: execution,
        after: after && { executionSeq: Number(after[0]), line: Number(after[1]) },
        limit: limit + 1,
      });
      if (rows.length === 0) await requireJob(deps, key);
      const position = ({ execution_seq, line }: LogLineRow) =>
        cursors.write(scope, [String(execution_seq), String(line)]);
      return { body: pageOf(rows, limit, { present: presentLogLine, position }) };
    },
  };
}

function keyOf({ project, params }: Pick<Call<'getJob'>, 'project' | 'params'>): JobKey {
  return { projectId: project.id, id: params.id };
}

async function requireJob({ database }: Dependencies, key: JobKey) {
  const job = await readJob(database, key);
  if (job === undefined) throw new HttpProblem('job_not_found');
  return job;
}

/** Looks until the job has ended, the time is over, the caller has gone, or the process stops. */
async function waitForEnd(deps: Dependencies, call: Call<'getJob'>): Promise<void> {
  const waitMs = waitOf(call.query.wait);
  const { database, clock, watch } = deps;
  const gone = new AbortController();
  call.response.once('close', () => {
    gone.abort();
  });
  const untilMs = clock.monotonicMs() + waitMs;
  while (clock.monotonicMs() < untilMs && !gone.signal.aborted && !deps.isDraining()) {
    const status = await watch.guard(readJobStatus(database, keyOf(call)));
    if (status === undefined || isEnded(status)) return;
    await clock.sleep(Math.min(lookEveryMs, untilMs - clock.monotonicMs()), gone.signal);
  }
}

function waitOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const waitMs = parseDurationMs(text);
  if (waitMs !== undefined && waitMs <= longestWaitMs) return waitMs;
  throw validationFailed([{ pointer: '?wait', detail: 'must be a duration of at most a minute' }]);
}
