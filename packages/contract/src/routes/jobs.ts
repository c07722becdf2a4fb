import { needs, projectBase, route } from '../route.ts';
import { Id } from '../schemas/values.ts';
import { Execution, LogLine, LogsQuery } from '../schemas/executions.ts';
import {
  ActionInput,
  BulkJobsInput,
  EmptyInput,
  JobInput,
  JobPatch,
} from '../schemas/job-input.ts';
import {
  BulkJobsResult,
  EnqueuedJob,
  Job,
  JobDetail,
  JobQuery,
  JobSummary,
  JobsQuery,
} from '../schemas/jobs.ts';
import { list, page } from '../schemas/paging.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Jobs';
const params = ProjectParams.extend({ id: Id });
const all = `${projectBase}/jobs` as const;
const one = `${projectBase}/jobs/{id}` as const;

/** Enqueueing and reading jobs. */
export const jobRoutes = {
  enqueueJob: route({
    method: 'post',
    path: all,
    tag,
    summary: 'Enqueue one job: now, after a delay, or at a time',
    access: needs('job.enqueue'),
    params: ProjectParams,
    body: JobInput,
    statuses: [201, 200],
    response: EnqueuedJob,
    idempotent: true,
  }),
  enqueueJobs: route({
    method: 'post',
    path: `${all}/bulk`,
    tag,
    summary: 'Enqueue up to 10 000 jobs, all or none',
    access: needs('job.enqueue'),
    params: ProjectParams,
    body: BulkJobsInput,
    alsoAccepts: 'application/x-ndjson',
    statuses: [201],
    response: BulkJobsResult,
    idempotent: true,
  }),
  listJobs: route({
    method: 'get',
    path: all,
    tag,
    summary: 'Jobs by filter, newest first',
    access: needs('project.read'),
    params: ProjectParams,
    query: JobsQuery,
    statuses: [200],
    response: page(JobSummary),
  }),
  getJob: route({
    method: 'get',
    path: one,
    tag,
    summary: 'One job with its runs; can wait for its end',
    access: needs('project.read'),
    params,
    query: JobQuery,
    statuses: [200],
    response: JobDetail,
  }),
  updateJob: route({
    method: 'patch',
    path: one,
    tag,
    summary: 'Change a job that has not started',
    access: needs('job.manage'),
    params,
    body: JobPatch,
    statuses: [200],
    response: Job,
  }),
  listExecutions: route({
    method: 'get',
    path: `${one}/executions`,
    tag,
    summary: 'Every run of the job, oldest first',
    access: needs('project.read'),
    params,
    statuses: [200],
    response: list(Execution),
  }),
  listJobLogs: route({
    method: 'get',
    path: `${one}/logs`,
    tag,
    summary: 'What the handlers logged, oldest first',
    access: needs('project.read'),
    params,
    query: LogsQuery,
    statuses: [200],
    response: page(LogLine),
  }),
} as const;

const verb = { method: 'post', tag, access: needs('job.manage'), params, statuses: [200] } as const;

/** What a person does with one job; 409 with the job's status where it cannot be done. */
export const jobActionRoutes = {
  cancelJob: route({
    ...verb,
    path: `${one}/cancel`,
    summary: 'Cancel: at once when it has not started, else by asking its handler to stop',
    body: ActionInput,
    response: Job,
  }),
  retryJob: route({
    ...verb,
    path: `${one}/retry`,
    summary: 'Try a failed job again, with all its attempts',
    body: ActionInput,
    response: Job,
  }),
  runJobNow: route({
    ...verb,
    path: `${one}/run-now`,
    summary: 'Put a scheduled job in line at once',
    body: EmptyInput,
    response: Job,
  }),
  replayJob: route({
    ...verb,
    path: `${one}/replay`,
    summary: 'Put a dead letter in line again: same id, next generation',
    body: ActionInput,
    response: Job,
  }),
  duplicateJob: route({
    ...verb,
    path: `${one}/duplicate`,
    summary: 'Enqueue a new job like this one',
    access: needs('job.enqueue'),
    body: EmptyInput,
    statuses: [201],
    response: EnqueuedJob,
    idempotent: true,
  }),
} as const;
