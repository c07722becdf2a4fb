import { templateOfJob } from '@holdfast/database';
import type { NewBatch, NewCallback, NewDependency, NewJob } from '@holdfast/database';
import { uuidSeries } from '@holdfast/domain';
import type { BatchKind, CallbackRole } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import type { JobRequest } from '../job-definition.ts';
import { checkDraft } from '../job-draft.ts';
import type { CheckedDraft } from '../job-draft.ts';
import type { JobOptions } from '../job-options.ts';
import type { BatchEnqueueResult, BatchPlan, PlannedEdge } from './batch-plan.ts';

/** A batch whose jobs were checked and have their ids. */
export interface PreparedBatch {
  readonly id: string;
  readonly kind: BatchKind;
  readonly name: string | undefined;
  readonly allowFailures: boolean | undefined;
  readonly jobs: readonly CheckedDraft[];
  readonly batches: readonly PreparedBatch[];
  readonly edges: readonly PlannedEdge[];
  readonly callbacks: readonly PreparedCallback[];
}

interface PreparedCallback {
  readonly role: CallbackRole;
  readonly percent: number | undefined;
  readonly draft: CheckedDraft;
}

/** How jobs are checked. */
export interface PrepareOptions {
  /** The name of the call, for errors. */
  readonly call: string;
  readonly limitBytes: number;
}

/**
 * Checks every job of a batch before anything is written. Ids that nobody chose are made from the id of the batch, so that
 * the same call gives the same ids again.
 *
 * @throws OptionsInvalidError, PayloadInvalidError, PayloadTooLargeError
 */
export async function prepareBatch(
  plan: BatchPlan,
  id: string,
  options: PrepareOptions,
): Promise<PreparedBatch> {
  const nextId = uuidSeries(id);
  const children = new Set(plan.edges.map(({ child }) => child));
  const jobs: CheckedDraft[] = [];
  for (const [index, request] of plan.jobs.entries()) {
    const refused = children.has(index) ? ofWaitingJobs : ofMembers;
    jobs.push(await prepareJob(request, { ...options, id: nextId(), refused }));
  }
  const callbacks: PreparedCallback[] = [];
  for (const { role, percent, request } of plan.callbacks) {
    const draft = await prepareJob(request, { ...options, id: nextId(), refused: ofCallbacks });
    callbacks.push({ role, percent, draft });
  }
  const batches: PreparedBatch[] = [];
  for (const inner of plan.batches) {
    batches.push(await prepareBatch(inner, inner.options.id ?? nextId(), options));
  }
  const { name, allowFailures } = plan.options;
  const { kind, edges } = plan;
  return { id, kind, name, allowFailures, jobs, batches, edges, callbacks };
}

type RefusedOptions = Partial<Record<keyof JobOptions, string>>;

const ofMembers: RefusedOptions = { unique: 'a job of a batch cannot have a unique key' };
const ofWaitingJobs: RefusedOptions = {
  ...ofMembers,
  runAt: 'a job that waits for others can have a delay after them, but no runAt',
};
const ofCallbacks: RefusedOptions = {
  unique: 'a callback of a batch cannot have a unique key',
  runAt: 'a callback of a batch can have a delay, but no runAt',
  startDeadline: 'a callback of a batch cannot have a startDeadline',
};

/** Checks one job that is to be part of a batch. */
export async function prepareMember(
  request: JobRequest,
  options: PrepareOptions & { readonly id: string },
): Promise<CheckedDraft> {
  return prepareJob(request, { ...options, refused: ofMembers });
}

async function prepareJob(
  { job, payload, options }: JobRequest,
  prepare: PrepareOptions & { readonly id: string; readonly refused: RefusedOptions },
): Promise<CheckedDraft> {
  const { call, limitBytes, id, refused } = prepare;
  const check = new OptionCheck(`${call}("${job.type}")`);
  for (const [name, problem] of Object.entries(refused)) {
    if (Object.entries(options).some(([key, value]) => key === name && value !== undefined)) {
      check.refuse(problem);
    }
  }
  check.done();
  const draft = await checkDraft({
    ...{ call, job, payload, limitBytes },
    options: { ...options, id: options.id ?? id },
  });
  return { ...draft, hasGivenId: options.id !== undefined };
}

/** Every job in it, those of callbacks and of inner batches too. */
export function draftsOf(batch: PreparedBatch): readonly CheckedDraft[] {
  const drafts: CheckedDraft[] = [];
  const collect = ({ jobs, callbacks, batches }: PreparedBatch): void => {
    for (const draft of jobs) drafts.push(draft);
    for (const { draft } of callbacks) drafts.push(draft);
    batches.forEach(collect);
  };
  collect(batch);
  return drafts;
}

/** What the jobs are when the batch is made; those of callbacks are made later. */
export function statusesOf({
  jobs,
  edges,
  batches,
}: PreparedBatch): ReadonlyMap<string, 'queued' | 'scheduled'> {
  const waiting = new Set(edges.map(({ child }) => child));
  const own = jobs.map((job, index) =>
    waiting.has(index) ? ([idOf(job), 'scheduled'] as const) : statusOf(job),
  );
  return new Map([...own, ...batches.flatMap((inner) => [...statusesOf(inner)])]);
}

/** What a job that waits for no other is when it is made, by its id. */
export function statusOf(job: CheckedDraft): readonly [string, 'queued' | 'scheduled'] {
  const { runAt, delayMs = 0 } = job.fields;
  return [idOf(job), runAt !== undefined || delayMs > 0 ? 'scheduled' : 'queued'];
}

/** The batch in stored form. */
export function toNewBatch(
  { id, kind, name, allowFailures, ...prepared }: PreparedBatch,
  jobs: ReadonlyMap<string, NewJob>,
): NewBatch {
  const newJob = (draft: CheckedDraft): NewJob => {
    const job = jobs.get(idOf(draft));
    if (job === undefined) throw new TypeError('A middleware left out a job of a batch');
    return job;
  };
  const idAt = (index: number): string => {
    const draft = prepared.jobs[index];
    if (draft === undefined) throw new TypeError('An edge of a graph leads nowhere');
    return idOf(draft);
  };
  return {
    ...{ id, kind, name, allowFailures },
    jobs: prepared.jobs.map(newJob),
    batches: prepared.batches.map((inner) => toNewBatch(inner, jobs)),
    dependencies: prepared.edges.map(({ parent, child, onFailure }): NewDependency => ({
      ...{ parentId: idAt(parent), childId: idAt(child), onFailure },
    })),
    callbacks: prepared.callbacks.map(({ role, percent, draft }) =>
      toCallback(newJob(draft), { role, percent }),
    ),
  };
}

function toCallback(job: NewJob, when: Pick<NewCallback, 'role' | 'percent'>): NewCallback {
  return { ...when, jobId: job.id, job: templateOfJob(job) };
}

/** What the caller is told. */
export function toResult({ id, jobs, batches }: PreparedBatch): BatchEnqueueResult {
  return { id, jobIds: jobs.map(idOf), batches: batches.map(toResult) };
}

function idOf({ draft }: CheckedDraft): string {
  return draft.options.id;
}
