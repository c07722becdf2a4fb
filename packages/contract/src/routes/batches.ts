import { needs, projectBase, route } from '../route.ts';
import {
  AddJobsInput,
  AddedJobs,
  Batch,
  BatchInput,
  BatchJobsQuery,
  BatchSummary,
  BatchesQuery,
  ChainInput,
  EnqueuedBatch,
  EnqueuedGraph,
  Graph,
  GraphInput,
  RetriedBatch,
} from '../schemas/batches.ts';
import { ActionInput, EmptyInput } from '../schemas/job-input.ts';
import { JobSummary } from '../schemas/jobs.ts';
import { page } from '../schemas/paging.ts';
import { Id } from '../schemas/values.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Batches';
const params = ProjectParams.extend({ id: Id });
const all = `${projectBase}/batches` as const;
const one = `${projectBase}/batches/{id}` as const;

const making = {
  method: 'post',
  tag,
  access: needs('job.enqueue'),
  params: ProjectParams,
  statuses: [201],
  idempotent: true,
} as const;

/** Jobs that are followed as one. */
export const batchRoutes = {
  createBatch: route({
    ...making,
    path: all,
    summary: 'Enqueue jobs that are followed as one, with callbacks; all or none',
    body: BatchInput,
    response: EnqueuedBatch,
  }),
  createChain: route({
    ...making,
    path: `${projectBase}/chains`,
    summary: 'Enqueue jobs that run one after the other; all or none',
    body: ChainInput,
    response: EnqueuedBatch,
  }),
  createGraph: route({
    ...making,
    path: `${projectBase}/graphs`,
    summary: 'Enqueue jobs that wait for each other, at most 10 000; all or none',
    body: GraphInput,
    response: EnqueuedGraph,
  }),
  listBatches: route({
    method: 'get',
    path: all,
    tag,
    summary: 'Batches, chains and graphs, newest first',
    access: needs('project.read'),
    params: ProjectParams,
    query: BatchesQuery,
    statuses: [200],
    response: page(BatchSummary),
  }),
  getBatch: route({
    method: 'get',
    path: one,
    tag,
    summary: 'One batch, chain or graph, with its counts and callbacks',
    access: needs('project.read'),
    params,
    statuses: [200],
    response: Batch,
  }),
  getGraph: route({
    method: 'get',
    path: `${projectBase}/graphs/{id}`,
    tag,
    summary: 'One graph or chain, with its jobs and what they wait for',
    access: needs('project.read'),
    params,
    statuses: [200],
    response: Graph,
  }),
  listBatchJobs: route({
    method: 'get',
    path: `${one}/jobs`,
    tag,
    summary: 'The jobs of a batch, and those of its callbacks, newest first',
    access: needs('project.read'),
    params,
    query: BatchJobsQuery,
    statuses: [200],
    response: page(JobSummary),
  }),
  addBatchJobs: route({
    ...making,
    path: `${one}/jobs`,
    params,
    summary: 'Add jobs to a batch that has not finished; all or none',
    body: AddJobsInput,
    response: AddedJobs,
  }),
  cancelBatch: route({
    method: 'post',
    path: `${one}/cancel`,
    tag,
    summary: 'Cancel every member that has not ended, and the batches in it',
    access: needs('job.manage'),
    params,
    body: ActionInput,
    statuses: [200],
    response: Batch,
  }),
  retryFailedOfBatch: route({
    method: 'post',
    path: `${one}/retry-failed`,
    tag,
    summary: 'Replay every dead member; the batch is open again',
    access: needs('job.manage'),
    params,
    body: EmptyInput,
    statuses: [200],
    response: RetriedBatch,
  }),
} as const;
