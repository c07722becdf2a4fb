import type { EnqueuedJob, RouteName } from '@holdfast/contract';
import { enqueueJobs, readJob, resolveQueues } from '@holdfast/database';
import type { Enqueued, NewJob, Queryable } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Answer, CallProject, Handlers } from '../http/call.ts';
import { idempotencyKeyOf, once } from '../http/idempotency.ts';
import type { RepeatableRequest } from '../http/idempotency.ts';
import { HttpProblem } from '../http/problem.ts';
import { jobsFromInput } from '../jobs-from-input.ts';
import { presentEnqueued } from '../presenters/job.ts';

type EnqueueRoute = Extract<RouteName, 'enqueueJob' | 'enqueueJobs' | 'duplicateJob'>;

/** Every way by which a request makes jobs. */
export function enqueueHandlers(deps: Dependencies): Handlers<EnqueueRoute> {
  const { database, clock } = deps;
  return {
    async enqueueJob(call) {
      const context = { database, clock, projectId: call.project.id, pointerOf: () => '' };
      const [job] = await jobsFromInput(context, [call.body]);
      if (job === undefined) throw new Error('One input makes one job');
      // Without a key to keep, calls that come together share one insert and one commit.
      return idempotencyKeyOf(call.request) === undefined
        ? enqueueTogether(deps, call.project, job)
        : enqueueOnce(deps, call, job);
    },

    async enqueueJobs(call) {
      const projectId = call.project.id;
      const pointerOf = (index: number) => `/jobs/${String(index)}`;
      const jobs = await jobsFromInput({ database, clock, projectId, pointerOf }, call.body.jobs);
      const names = [...new Set(jobs.map(({ queue }) => queue))];
      const queues = await resolveQueues(database, projectId, names);
      const wake = createWakeUps(deps);
      const { status, headers, body } = await once(database, call, async (tx) => {
        wake.after(await enqueueJobs(database, { projectId, jobs, queues, tx }));
        return { status: 201, body: { data: jobs.map(presentBrief) } };
      });
      wake.now();
      return { status, headers: headers ?? {}, body };
    },

    async duplicateJob(call) {
      const original = await readJob(database, { projectId: call.project.id, id: call.params.id });
      if (original === undefined) throw new HttpProblem('job_not_found');
      return enqueueOnce(deps, call, {
        id: uuidV7(clock.nowMs()),
        queue: original.queue,
        type: original.type,
        payloadJson: JSON.stringify(original.payload),
        priority: original.priority,
        maxAttempts: original.max_attempts,
        timeoutMs: original.timeout_ms,
        retry: original.retry ?? undefined,
        tags: original.tags ?? undefined,
        metadataJson: original.metadata === null ? undefined : JSON.stringify(original.metadata),
      });
    },
  };
}

async function enqueueTogether(
  deps: Dependencies,
  project: CallProject,
  job: NewJob,
): Promise<Answer<EnqueuedJob>> {
  await deps.enqueuer.enqueue(project.id, job);
  const body = await readEnqueued(deps.database, project, job.id);
  return { status: 201, headers: locationOf(project, job.id), body };
}

async function enqueueOnce(
  deps: Dependencies,
  call: RepeatableRequest & { readonly project: CallProject },
  job: NewJob,
): Promise<Answer<EnqueuedJob>> {
  const { database } = deps;
  const projectId = call.project.id;
  const queues = await resolveQueues(database, projectId, [job.queue]);
  const wake = createWakeUps(deps);
  const { status, headers, body } = await once(database, call, async (tx) => {
    wake.after(await enqueueJobs(database, { projectId, jobs: [job], queues, tx }));
    return { status: 201, body: await readEnqueued(tx, call.project, job.id) };
  });
  wake.now();
  return { status, headers: { ...locationOf(call.project, body.id), ...headers }, body };
}

async function readEnqueued(db: Queryable, project: CallProject, id: string): Promise<EnqueuedJob> {
  const row = await readJob(db, { projectId: project.id, id });
  if (row === undefined) throw new HttpProblem('job_not_found');
  return presentEnqueued(row, true);
}

function locationOf({ slug }: CallProject, id: string): Readonly<Record<string, string>> {
  return { location: `/api/v1/projects/${slug}/jobs/${id}` };
}

function presentBrief(job: NewJob) {
  const isLater = job.runAt !== undefined || (job.delayMs ?? 0) > 0;
  return { id: job.id, status: isLater ? 'scheduled' : 'queued', deduplicated: false } as const;
}

/** Holds wake-ups back until the commit; a transaction that runs again replaces them. */
function createWakeUps({ notifier }: Dependencies) {
  let enqueued: Enqueued | undefined;
  return {
    after(done: Enqueued): void {
      enqueued = done;
    },
    now(): void {
      notifier.wakeQueues(enqueued?.queueIds ?? []);
      if (enqueued?.scheduled === true) notifier.wakeSchedulers();
    },
  };
}
