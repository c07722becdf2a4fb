import type { JobActionResult, ReplayResult } from '@holdfast/database';
import { assertNever } from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import { HttpProblem } from './http/problem.ts';

/** An action that the job's status does not allow; the answer names the status. */
export function notInState(status: JobStatus): HttpProblem {
  return new HttpProblem('job_not_in_state', {
    detail: `The job is ${status}`,
    extra: { jobStatus: status },
  });
}

/**
 * The queue of the job that an action was done to.
 *
 * @throws HttpProblem `job_not_found`, `job_not_in_state` or `unique_key_held`
 */
export function requireDone(result: JobActionResult | ReplayResult): { readonly queueId: string } {
  if (result.done) return result;
  switch (result.reason) {
    case 'not_found':
      throw new HttpProblem('job_not_found');
    case 'not_in_state':
      throw notInState(result.status);
    case 'unique_key_held':
      throw uniqueKeyHeld(result.holderId);
    default:
      return assertNever(result);
  }
}

/** The key of the job is held by another one, which the answer names. */
export function uniqueKeyHeld(holderId: string, key?: string): HttpProblem {
  const name = key === undefined ? 'The unique key' : `The unique key "${key}"`;
  return new HttpProblem('unique_key_held', {
    detail: `${name} is held by the job ${holderId}`,
    extra: { holderId },
  });
}
