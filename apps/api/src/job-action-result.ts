import type { JobActionResult } from '@holdfast/database';
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
 * @throws HttpProblem `job_not_found` or `job_not_in_state`
 */
export function requireDone(result: JobActionResult): { readonly queueId: string } {
  if (result.done) return result;
  throw result.reason === 'not_found'
    ? new HttpProblem('job_not_found')
    : notInState(result.status);
}
