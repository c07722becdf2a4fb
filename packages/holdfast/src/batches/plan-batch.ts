import { isStorableText, isUuid, maxGraphNodes, requireBatchDepth } from '@holdfast/domain';
import type { BatchKind } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import type { JobRequest } from '../job-definition.ts';
import type { BatchMember, BatchOptions, BatchPlan } from './batch-plan.ts';
import { isJobRequest } from './is-job-request.ts';
import { readMembers } from './read-members.ts';
import { requireBatchSize } from './require-batch-size.ts';

/** The plan of a batch. @throws OptionsInvalidError; HoldfastError `batch_too_deep`, `batch_too_large` */
export function planBatch(members: readonly BatchMember[], options: BatchOptions): BatchPlan {
  const checked = readBatchOptions('batch', options);
  const check = new OptionCheck('batch');
  const { jobs, batches } = readMembers(check, members);
  check.done();
  const depth = batches.reduce((deepest, inner) => Math.max(deepest, inner.depth), 0) + 1;
  requireBatchDepth(depth);
  const size = requireBatchSize({ jobs, batches });
  return { kind: 'batch', options: checked, jobs, batches, depth, size, edges: [], callbacks: [] };
}

/** The plan of a chain. @throws OptionsInvalidError */
export function planChain(jobs: readonly JobRequest[], options: BatchOptions): BatchPlan {
  const checked = readBatchOptions('chain', options);
  const check = new OptionCheck('chain');
  if (!Array.isArray(jobs)) check.refuse('the jobs must be an array');
  else if (jobs.length > maxGraphNodes) {
    check.refuse(`a chain has at most ${String(maxGraphNodes)} jobs`);
  } else {
    jobs.forEach((job: unknown, index) => {
      if (isJobRequest(job)) return;
      check.refuse(`link ${String(index)} is no job with a payload: use job.with(payload)`);
    });
  }
  check.done();
  const edges = jobs.slice(1).map((_, index) => ({
    ...{ parent: index, child: index + 1, onFailure: 'cancel' as const },
  }));
  // The caller may change its array later, and then nobody would look at what is new.
  const own = [...jobs];
  return {
    kind: 'chain',
    options: checked,
    jobs: own,
    batches: [],
    depth: 1,
    size: { batches: 0, jobs: own.length },
    edges,
    callbacks: [],
  };
}

/** Checks the options of a batch, chain or graph. @throws OptionsInvalidError */
export function readBatchOptions(kind: BatchKind, options: BatchOptions): BatchOptions {
  const check = new OptionCheck(kind);
  check.names(options, ['id', 'name', 'allowFailures']);
  check.done();
  const { id, name, allowFailures } = options;
  if (id !== undefined && !(typeof id === 'string' && isUuid(id))) {
    check.refuse('id must be a UUID in lower case');
  }
  if (name !== undefined && !isBatchName(name)) check.refuse('name must have 1 to 200 characters');
  if (allowFailures !== undefined && typeof allowFailures !== 'boolean') {
    check.refuse('allowFailures must be true or false');
  }
  check.done();
  return { id, name, allowFailures };
}

function isBatchName(name: unknown): boolean {
  if (typeof name !== 'string' || !isStorableText(name)) return false;
  return name.length >= 1 && name.length <= 200;
}
