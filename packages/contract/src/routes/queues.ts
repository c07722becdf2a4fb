import { needs, projectBase, route } from '../route.ts';
import { Name } from '../schemas/values.ts';
import { EmptyInput } from '../schemas/job-input.ts';
import { page } from '../schemas/paging.ts';
import {
  DrainProgress,
  PauseInput,
  PurgeInput,
  PurgeResult,
  Queue,
  QueueInput,
  QueuePatch,
  QueuesQuery,
} from '../schemas/queues.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Queues';
const params = ProjectParams.extend({ queue: Name });
const one = `${projectBase}/queues/{queue}` as const;

/** Queues: their settings, and what an operator does with them. */
export const queueRoutes = {
  listQueues: route({
    method: 'get',
    path: `${projectBase}/queues`,
    tag,
    summary: 'The queues with their counts, by name',
    access: needs('project.read'),
    params: ProjectParams,
    query: QueuesQuery,
    statuses: [200],
    response: page(Queue),
  }),
  createQueue: route({
    method: 'post',
    path: `${projectBase}/queues`,
    tag,
    summary: 'Create a queue',
    access: needs('queue.configure'),
    params: ProjectParams,
    body: QueueInput,
    statuses: [201],
    response: Queue,
    idempotent: true,
    etag: 'answered',
  }),
  getQueue: route({
    method: 'get',
    path: one,
    tag,
    summary: 'One queue',
    access: needs('project.read'),
    params,
    statuses: [200],
    response: Queue,
    etag: 'answered',
  }),
  updateQueue: route({
    method: 'patch',
    path: one,
    tag,
    summary: 'Change settings of a queue',
    access: needs('queue.configure'),
    params,
    body: QueuePatch,
    statuses: [200],
    response: Queue,
    etag: 'checked',
  }),
  deleteQueue: route({
    method: 'delete',
    path: one,
    tag,
    summary: 'Delete an empty queue',
    access: needs('queue.configure'),
    params,
    statuses: [204],
    response: undefined,
  }),
  pauseQueue: route({
    method: 'post',
    path: `${one}/pause`,
    tag,
    summary: 'Claim no more jobs of the queue; running ones finish',
    access: needs('queue.operate'),
    params,
    body: PauseInput,
    statuses: [200],
    response: Queue,
  }),
  resumeQueue: route({
    method: 'post',
    path: `${one}/resume`,
    tag,
    summary: 'Claim jobs of the queue again',
    access: needs('queue.operate'),
    params,
    body: EmptyInput,
    statuses: [200],
    response: Queue,
  }),
  drainQueue: route({
    method: 'post',
    path: `${one}/drain`,
    tag,
    summary: 'Pause the queue and tell how many of its jobs still run; repeat to follow',
    access: needs('queue.operate'),
    params,
    body: PauseInput,
    statuses: [200],
    response: DrainProgress,
  }),
  purgeQueue: route({
    method: 'post',
    path: `${one}/purge`,
    tag,
    summary: 'Cancel every job of the queue that has not started',
    access: needs('queue.configure'),
    params,
    body: PurgeInput,
    statuses: [200],
    response: PurgeResult,
  }),
} as const;
