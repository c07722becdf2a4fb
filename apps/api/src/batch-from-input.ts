import type { BatchSettings, GraphInput, JobInput, MemberInput } from '@holdfast/contract';
import { templateOfJob } from '@holdfast/database';
import type { NewBatch, NewCallback, NewDependency, NewJob } from '@holdfast/database';
import { checkGraph, uuidSeries } from '@holdfast/domain';
import type { BatchKind, CallbackRole, GraphEdge, GraphProblem } from '@holdfast/domain';
import { validationFailed } from './http/problem.ts';
import type { ProblemItem } from './http/problem.ts';
import { jobsFromInput } from './jobs-from-input.ts';
import type { JobsContext } from './jobs-from-input.ts';

/** A batch that a request describes. */
export interface BatchRequest {
  readonly id: string;
  readonly kind: BatchKind;
  readonly settings: BatchSettings;
  readonly jobs: readonly MemberInput[];
  /** The JSON pointer of the job at an index. */
  readonly pointerOf: (index: number) => string;
  /** By the places of the jobs. */
  readonly edges: readonly IndexedEdge[];
}

interface IndexedEdge {
  readonly parent: number;
  readonly child: number;
  readonly onFailure: NewDependency['onFailure'];
}

/** One job waits for the one before. */
export function chainEdges(length: number): readonly IndexedEdge[] {
  return Array.from({ length: Math.max(0, length - 1) }, (_, index) => ({
    ...{ parent: index, child: index + 1, onFailure: 'cancel' },
  }));
}

/**
 * The edges that the nodes of a request name.
 *
 * @throws HttpProblem with a pointer to each node that waits for what is not there, twice, or in a circle
 */
export function graphEdges(nodes: GraphInput['nodes']): readonly IndexedEdge[] {
  const indexes = new Map(nodes.map(({ name }, index) => [name, index]));
  const errors = nodes.flatMap(({ after }, index) =>
    after.flatMap((each, place) => {
      const name = typeof each === 'string' ? each : each.node;
      const detail = `there is no node "${name}"`;
      const pointer = `/nodes/${String(index)}/after/${String(place)}`;
      return indexes.has(name) ? [] : [{ pointer, detail }];
    }),
  );
  if (errors.length > 0) throw validationFailed(errors.slice(0, 100));
  const named = nodes.flatMap(({ name, after }): readonly GraphEdge[] =>
    after.map((each) => ({ parent: typeof each === 'string' ? each : each.node, child: name })),
  );
  const names = nodes.map(({ name }) => name);
  const problem = checkGraph(names, named);
  if (problem !== undefined) throw validationFailed(pointTo(problem, names));
  return nodes.flatMap(({ after, onParentFailure }, child) =>
    after.map((each) => ({
      parent: indexes.get(typeof each === 'string' ? each : each.node) ?? -1,
      child,
      onFailure: typeof each === 'string' ? onParentFailure : each.onParentFailure,
    })),
  );
}

function pointTo(problem: GraphProblem, names: readonly string[]): readonly ProblemItem[] {
  const { kind, message: detail, nodes } = problem;
  const at = (name: string | undefined, field: string): ProblemItem => ({
    pointer: `/nodes/${String(names.lastIndexOf(name ?? ''))}/${field}`,
    detail,
  });
  switch (kind) {
    case 'too_many_nodes':
    case 'too_many_edges':
      return [{ pointer: '/nodes', detail }];
    case 'repeated_node':
      return [at(nodes[0], 'name')];
    case 'unknown_node':
    case 'repeated_edge':
      return [at(nodes[0], 'after')];
    case 'cycle':
      return nodes.slice(0, 20).map((name) => at(name, 'after'));
  }
}

/**
 * Makes the batch that a request describes.
 *
 * @throws HttpProblem when a job cannot be stored, or a job that waits names an instant
 */
export async function batchFromInput(
  context: Omit<JobsContext, 'pointerOf'>,
  request: BatchRequest,
): Promise<NewBatch> {
  const { id, kind, settings, pointerOf, edges } = request;
  refuseInstants(request);
  const nextId = uuidSeries(id);
  const made = await jobsFromInput({ ...context, pointerOf }, request.jobs);
  const jobs = made.map((job): NewJob => ({ ...job, id: nextId() }));
  const callbacks = await callbacksFromInput(context, settings.callbacks, nextId);
  return {
    ...{ id, kind, jobs, callbacks, name: settings.name, allowFailures: settings.allowFailures },
    dependencies: edges.map(({ parent, child, onFailure }) => ({
      ...{ parentId: jobs[parent]?.id ?? '', childId: jobs[child]?.id ?? '', onFailure },
    })),
  };
}

function refuseInstants({ jobs, edges, pointerOf }: BatchRequest): void {
  const waiting = [...new Set(edges.map(({ child }) => child))];
  const errors = waiting
    .filter((index) => jobs[index]?.runAt != null)
    .map((index) => ({
      pointer: `${pointerOf(index)}/runAt`,
      detail: 'must not be set for a job that waits for others; a delay counts from their end',
    }));
  if (errors.length > 0) throw validationFailed(errors.slice(0, 100));
}

interface CallbackSlot {
  readonly role: CallbackRole;
  readonly percent: number;
  readonly pointer: string;
  readonly job: JobInput;
}

async function callbacksFromInput(
  context: Omit<JobsContext, 'pointerOf'>,
  callbacks: BatchSettings['callbacks'],
  nextId: () => string,
): Promise<readonly NewCallback[]> {
  const slots = slotsOf(callbacks);
  const pointerOf = (index: number) => slots[index]?.pointer ?? '';
  const jobs = await jobsFromInput(
    { ...context, pointerOf },
    slots.map(({ job }) => job),
  );
  return jobs.flatMap((job, index): readonly NewCallback[] => {
    const slot = slots[index];
    if (slot === undefined) return [];
    const { role, percent } = slot;
    return [{ role, percent, jobId: nextId(), job: templateOfJob(job) }];
  });
}

function slotsOf({ progress, ...single }: BatchSettings['callbacks']): readonly CallbackSlot[] {
  const slots: CallbackSlot[] = [];
  if (progress !== undefined) {
    const { every, job } = progress;
    for (let percent = every; percent <= 100; percent += every) {
      slots.push({ role: 'progress', percent, pointer: '/callbacks/progress/job', job });
    }
  }
  for (const role of ['catch', 'then', 'finally'] as const) {
    const job = single[role];
    if (job !== undefined) slots.push({ role, percent: 0, pointer: `/callbacks/${role}`, job });
  }
  return slots;
}
