import type { EnqueuedJob, RouteName } from '@holdfast/contract';
import {
  enqueueJobs,
  enqueueUniqueJobs,
  readJob,
  resolveQueues,
  wakeForJobs,
} from '@holdfast/database';
import type { Enqueued, NewJob, Queryable, UniqueJob } from '@holdfast/database';
import { OptionsInvalidError, UniqueKeyHeldError, uuidV7 } from '@holdfast/domain';
import type { Dependencies } from '../dependencies.ts';
import type { Answer, CallProject, Handlers } from '../http/call.ts';
import { idempotencyKeyOf, once } from '../http/idempotency.ts';
import type { RepeatableRequest } from '../http/idempotency.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { uniqueKeyHeld } from '../job-action-result.ts';
import { jobsFromInput } from '../jobs-from-input.ts';
import { presentEnqueued, presentOutcome } from '../presenters/job.ts';

type EnqueueRoute = Extract<RouteName, 'enqueueJob' | 'enqueueJobs' | 'duplicateJob'>;

/** Every way by which a request makes jobs. */
export function enqueueHandlers(deps: Dependencies): Handlers<EnqueueRoute> {
  const { database, clock } = deps;
  return {
    async enqueueJob(call) {
      const context = { database, clock, projectId: call.project.id, pointerOf: () => '' };
      const [job] = await jobsFromInput(context, [call.body]);
      if (job === undefined) throw new Error('One input makes one job');
      const { unique } = call.body;
      if (unique !== undefined) return enqueueUnique(deps, call, { ...job, unique });
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
      const keyed = jobs.map((job, index) => ({ ...job, unique: call.body.jobs[index]?.unique }));
      const { status, headers, body } = await once(database, call, async (tx) => {
        const done = await refusing(
          enqueueUniqueJobs(database, { projectId, jobs: keyed, queues, tx }),
        );
        wake.after(done);
        return { status: 201, body: { data: done.outcomes.map(presentOutcome) } };
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
        payloadVersion: original.payload_version,
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

/** The answer is the new job, or the one that holds its key. */
async function enqueueUnique(
  deps: Dependencies,
  call: RepeatableRequest & { readonly project: CallProject },
  job: UniqueJob,
): Promise<Answer<EnqueuedJob>> {
  const { database } = deps;
  const projectId = call.project.id;
  const queues = await resolveQueues(database, projectId, [job.queue]);
  const wake = createWakeUps(deps);
  const { status, headers, body } = await once(database, call, async (tx) => {
    const jobs = [job];
    const done = await refusing(enqueueUniqueJobs(database, { projectId, jobs, queues, tx }));
    wake.after(done);
    const [outcome] = done.outcomes;
    if (outcome === undefined) throw new Error('One job has one outcome');
    const row = await readJob(tx, { projectId, id: outcome.id });
    // A time that is not over may outlive everything that is known of the job.
    if (row === undefined) throw uniqueKeyHeld(outcome.id);
    return { status: outcome.deduplicated ? 200 : 201, body: presentEnqueued(row, outcome) };
  });
  wake.now();
  return { status, headers: { ...locationOf(call.project, body.id), ...headers }, body };
}

/** Tells of keys that are held, and of settings that contradict each other, in the words of the API. */
async function refusing<Result>(enqueueing: Promise<Result>): Promise<Result> {
  try {
    return await enqueueing;
  } catch (error) {
    if (error instanceof UniqueKeyHeldError) throw uniqueKeyHeld(error.holderId, error.key);
    if (error instanceof OptionsInvalidError) {
      throw validationFailed(error.problems.map((detail) => ({ pointer: '', detail })));
    }
    throw error;
  }
}

async function readEnqueued(db: Queryable, project: CallProject, id: string): Promise<EnqueuedJob> {
  const row = await readJob(db, { projectId: project.id, id });
  if (row === undefined) throw new HttpProblem('job_not_found');
  return presentEnqueued(row);
}

function locationOf({ slug }: CallProject, id: string): Readonly<Record<string, string>> {
  return { location: `/api/v1/projects/${slug}/jobs/${id}` };
}

/** Holds wake-ups back until the commit; a transaction that runs again replaces them. */
function createWakeUps({ notifier }: Dependencies) {
  let enqueued: Enqueued | undefined;
  return {
    after(done: Enqueued): void {
      enqueued = done;
    },
    now(): void {
      if (enqueued !== undefined) wakeForJobs(notifier, enqueued);
    },
  };
}
