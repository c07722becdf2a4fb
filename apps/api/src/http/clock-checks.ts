import { maxDurationMs } from '@holdfast/domain';
import type { Clock } from '@holdfast/runtime';
import { validationFailed } from './problem.ts';

/**
 * An instant as sent, if there is one; far instants are most likely mistakes.
 *
 * @throws HttpProblem `validation_failed` when it is more than ten years ahead
 */
export function requireNotFar(
  instant: string | null | undefined,
  { pointer, clock }: { readonly pointer: string; readonly clock: Clock },
): Date | undefined {
  if (instant === null || instant === undefined) return undefined;
  const at = new Date(instant);
  if (at.getTime() <= clock.nowMs() + maxDurationMs) return at;
  throw validationFailed([{ pointer, detail: 'must be within the next ten years' }]);
}
