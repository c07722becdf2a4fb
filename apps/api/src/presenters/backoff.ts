import type { Backoff } from '@holdfast/contract';
import { assertNever, formatDuration } from '@holdfast/domain';
import type { BackoffPolicy } from '@holdfast/domain';

/** A backoff policy as answered, with durations as text. */
export function presentBackoff(policy: BackoffPolicy): Backoff {
  switch (policy.kind) {
    case 'exponential':
      return {
        kind: policy.kind,
        base: formatDuration(policy.baseMs),
        factor: policy.factor,
        max: formatDuration(policy.maxMs),
        jitter: policy.jitter,
      };
    case 'list':
      return { kind: policy.kind, delays: policy.delaysMs.map(formatDuration) };
    case 'fixed':
      return { kind: policy.kind, delay: formatDuration(policy.delayMs) };
    default:
      return assertNever(policy);
  }
}
