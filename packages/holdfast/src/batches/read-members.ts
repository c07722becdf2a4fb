import type { OptionCheck } from '../check-options.ts';
import type { JobRequest } from '../job-definition.ts';
import { planOf } from './batch-builder.ts';
import type { BatchMember, BatchPlan } from './batch-plan.ts';
import { isJobRequest } from './is-job-request.ts';

/** Jobs and inner batches apart. */
export interface ReadMembers {
  readonly jobs: readonly JobRequest[];
  readonly batches: readonly BatchPlan[];
}

/** Reads the members of a batch and notes what is none, for callers in plain JavaScript. */
export function readMembers(check: OptionCheck, members: readonly BatchMember[]): ReadMembers {
  const jobs: JobRequest[] = [];
  const batches: BatchPlan[] = [];
  if (!Array.isArray(members)) {
    check.refuse('the members must be an array');
    return { jobs, batches };
  }
  members.forEach((member: BatchMember, index) => {
    const plan = planOf(member);
    if (plan !== undefined) batches.push(plan);
    else if (isJobRequest(member)) jobs.push(member);
    else check.refuse(`member ${String(index)} is no job with a payload: use job.with(payload)`);
  });
  return { jobs, batches };
}
