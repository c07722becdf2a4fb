import { needs, projectBase, route } from '../route.ts';
import { Id } from '../schemas/values.ts';
import { EmptyInput } from '../schemas/job-input.ts';
import { list } from '../schemas/paging.ts';
import { Worker } from '../schemas/workers.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Workers';
const params = ProjectParams.extend({ id: Id });
const one = `${projectBase}/workers/{id}` as const;
const verb = {
  method: 'post',
  tag,
  access: needs('worker.operate'),
  params,
  body: EmptyInput,
  statuses: [200],
  response: Worker,
} as const;

/** Worker processes; an order to one takes effect with its next heartbeat. */
export const workerRoutes = {
  listWorkers: route({
    method: 'get',
    path: `${projectBase}/workers`,
    tag,
    summary: 'The workers; lost ones stay for an hour',
    access: needs('project.read'),
    params: ProjectParams,
    statuses: [200],
    response: list(Worker),
  }),
  quietWorker: route({ ...verb, path: `${one}/quiet`, summary: 'Claim no more jobs' }),
  resumeWorker: route({ ...verb, path: `${one}/resume`, summary: 'Claim jobs again' }),
  stopWorker: route({ ...verb, path: `${one}/stop`, summary: 'Finish or give back, and end' }),
} as const;
