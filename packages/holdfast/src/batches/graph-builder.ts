import { parentFailurePolicies } from '@holdfast/domain';
import type { OnParentFailure } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import type { JobRequest } from '../job-definition.ts';
import type { BatchOptions, BatchPlan, PlannedEdge } from './batch-plan.ts';
import { isJobRequest } from './is-job-request.ts';
import { readBatchOptions } from './plan-batch.ts';

/** A job of a graph, for others to wait for. */
export interface GraphNode {
  /** Its place among the jobs of the graph, from 0. */
  readonly index: number;
}

/** What a job of a graph waits for. */
export interface GraphNodeOptions {
  /** The jobs that must end first. */
  readonly after?: GraphNode | readonly GraphNode[] | undefined;
  /**
   * What becomes of this job when one of them dies or is cancelled: it is cancelled (default), runs all the same, or waits
   * until the other is replayed.
   */
  readonly onParentFailure?: OnParentFailure | undefined;
}

/** Takes the jobs of a graph. A job can wait only for those that were added before it, so there are no circles. */
export interface GraphBuilder {
  /** @throws OptionsInvalidError */
  add(job: JobRequest, options?: GraphNodeOptions): GraphNode;
}

/**
 * Plans a graph of what a function adds to it.
 *
 * @throws OptionsInvalidError also for an async function: what it adds later would be lost
 */
export function planGraph(
  build: (graph: GraphBuilder) => unknown,
  options: BatchOptions,
): BatchPlan {
  const checked = readBatchOptions('graph', options);
  const added = collect(build);
  const size = { batches: 0, jobs: added.jobs.length };
  return { kind: 'graph', options: checked, ...added, batches: [], depth: 1, size, callbacks: [] };
}

function collect(build: (graph: GraphBuilder) => unknown): Pick<BatchPlan, 'jobs' | 'edges'> {
  const jobs: JobRequest[] = [];
  const edges: PlannedEdge[] = [];
  const nodes = new Set<GraphNode>();
  let isOver = false;
  const graph: GraphBuilder = {
    add(job, options = {}) {
      const child = jobs.length;
      const check = new OptionCheck(`graph().add, job ${String(child)}`);
      if (isOver) check.refuse('the graph is built already');
      if (!check.names(options, ['after', 'onParentFailure'])) check.done();
      if (!isJobRequest(job)) check.refuse('it takes a job with a payload: use job.with(payload)');
      const { onParentFailure } = options;
      const onFailure =
        check.oneOf('onParentFailure', onParentFailure, parentFailurePolicies) ?? 'cancel';
      const parents = new Set(parentsOf(options));
      if (![...parents].every((parent) => nodes.has(parent))) {
        check.refuse('after takes what add of the same graph has given');
      }
      check.done();
      jobs.push(job);
      for (const { index } of parents) edges.push({ parent: index, child, onFailure });
      const node: GraphNode = Object.freeze({ index: child });
      nodes.add(node);
      return node;
    },
  };
  const check = new OptionCheck('graph');
  if (typeof build !== 'function') check.refuse('it takes a function that adds the jobs');
  check.done();
  const built = build(graph);
  isOver = true;
  if (built instanceof Promise) {
    // Its failure, by what it adds now, is told below.
    built.catch(() => undefined);
    check.refuse('the function that adds the jobs cannot be async');
  }
  check.done();
  return { jobs, edges };
}

function parentsOf({ after }: GraphNodeOptions): readonly GraphNode[] {
  if (after === undefined) return [];
  // Array.isArray does not tell a readonly array from the rest.
  return Array.isArray(after) ? (after as readonly GraphNode[]) : [after as GraphNode];
}
