import type { Batch, RouteName } from '@holdfast/contract';
import { addToBatch, createBatch, readBatch, resolveQueues, wakeForJobs } from '@holdfast/database';
import type { BatchEnqueued, NewBatch } from '@holdfast/database';
import { HoldfastError, uuidV7 } from '@holdfast/domain';
import { batchFromInput, chainEdges, graphEdges } from '../batch-from-input.ts';
import type { BatchRequest } from '../batch-from-input.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Answer, CallProject, Handlers } from '../http/call.ts';
import { once } from '../http/idempotency.ts';
import type { RepeatableRequest } from '../http/idempotency.ts';
import { HttpProblem } from '../http/problem.ts';
import { jobsFromInput } from '../jobs-from-input.ts';
import { presentBatch } from '../presenters/batch.ts';

type MakeRoute = Extract<RouteName, 'createBatch' | 'createChain' | 'createGraph' | 'addBatchJobs'>;

const jobPointer = (index: number) => `/jobs/${String(index)}`;

/** Making batches, chains and graphs, and adding to them. */
export function makeBatchHandlers(deps: Dependencies): Handlers<MakeRoute> {
  const { database, clock } = deps;
  const newId = () => uuidV7(clock.nowMs());
  return {
    createBatch: (call) => {
      const { jobs, ...settings } = call.body;
      const request = { kind: 'batch', settings, jobs, edges: [], pointerOf: jobPointer } as const;
      return make(deps, call, { ...request, id: newId(), present: presentWithIds });
    },

    createChain: (call) => {
      const { jobs, ...settings } = call.body;
      const edges = chainEdges(jobs.length);
      const request = { kind: 'chain', settings, jobs, edges, pointerOf: jobPointer } as const;
      return make(deps, call, { ...request, id: newId(), present: presentWithIds });
    },

    createGraph: (call) => {
      const { nodes, ...settings } = call.body;
      return make(deps, call, {
        ...{ id: newId(), kind: 'graph', settings, edges: graphEdges(nodes) },
        jobs: nodes.map(({ job }) => job),
        pointerOf: (index) => `/nodes/${String(index)}/job`,
        present: (batch, made) => ({
          ...batch,
          nodes: nodes.map(({ name }, index) => ({ name, jobId: made.jobs[index]?.id ?? '' })),
        }),
      });
    },

    async addBatchJobs(call) {
      const { id } = call.params;
      const projectId = call.project.id;
      const context = { database, clock, projectId, pointerOf: jobPointer };
      const jobs = await jobsFromInput(context, call.body.jobs);
      const queues = await resolveQueues(
        database,
        projectId,
        jobs.map(({ queue }) => queue),
      );
      const wake = createWakeUps(deps);
      const { status, headers, body } = await once(database, call, async (tx) => {
        wake.after(await asProblems(addToBatch(database, { projectId, id, jobs, queues, tx })));
        return { status: 201, body: { jobIds: jobs.map((job) => job.id) } };
      });
      wake.now();
      return { status, headers: headers ?? {}, body };
    },
  };
}

function presentWithIds(batch: Batch, { jobs }: NewBatch) {
  return { ...batch, jobIds: jobs.map(({ id }) => id) };
}

async function make<Body extends Batch>(
  deps: Dependencies,
  call: RepeatableRequest & { readonly project: CallProject },
  request: BatchRequest & {
    readonly present: (batch: Batch, made: NewBatch) => Body;
  },
): Promise<Answer<Body>> {
  const { database, clock } = deps;
  const projectId = call.project.id;
  const batch = await batchFromInput({ database, clock, projectId }, request);
  const names = [...batch.jobs, ...(batch.callbacks ?? []).map(({ job }) => job)];
  const queues = await resolveQueues(database, projectId, [
    ...new Set(names.map(({ queue }) => queue)),
  ]);
  const wake = createWakeUps(deps);
  const { parentId } = request.settings;
  const { status, headers, body } = await once(database, call, async (tx) => {
    wake.after(await asProblems(createBatch(database, { projectId, batch, parentId, queues, tx })));
    const view = await readBatch(tx, { projectId, id: batch.id });
    if (view === undefined) throw new HttpProblem('batch_not_found');
    return { status: 201, body: request.present(presentBatch(view), batch) };
  });
  wake.now();
  const location = `/api/v1/projects/${call.project.slug}/batches/${body.id}`;
  return { status, headers: { location, ...headers }, body };
}

/** What the database package refuses, as an answer. */
async function asProblems<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message: detail } = error;
    if (code === 'batch_not_found' || code === 'batch_not_open') {
      throw new HttpProblem(code, { detail, cause: error });
    }
    throw error;
  }
}

/** Holds wake-ups back until the commit; a transaction that runs again replaces them. */
function createWakeUps({ notifier, settler }: Dependencies) {
  let enqueued: BatchEnqueued | undefined;
  return {
    after(done: BatchEnqueued): void {
      enqueued = done;
    },
    now(): void {
      if (enqueued !== undefined) wakeForJobs(notifier, enqueued);
      // An empty batch inside of another one has ended.
      if (enqueued?.isNew === true) settler.kick();
    },
  };
}
