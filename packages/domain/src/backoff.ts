/**
 * How long a job waits before its next attempt.
 *
 * - `exponential`: `baseMs · factor^(attempt − 1)`, at most `maxMs`; with `full` jitter a uniformly random part of it
 *   (the "full jitter" of Marc Brooker, "Exponential Backoff And Jitter", 2015), but not less than a second, or than a
 *   fifth of it where that is less: what has just failed is not tried again at once.
 * - `list`: the n-th delay after the n-th attempt; the last one repeats.
 * - `fixed`: always the same delay.
 */
export type BackoffPolicy =
  | {
      readonly kind: 'exponential';
      readonly baseMs: number;
      readonly factor: number;
      readonly maxMs: number;
      readonly jitter: 'full' | 'none';
    }
  | { readonly kind: 'list'; readonly delaysMs: readonly number[] }
  | { readonly kind: 'fixed'; readonly delayMs: number };

/** The policy of a job that names none: 5 s, doubling, at most 1 h, full jitter. */
export const defaultBackoff = {
  kind: 'exponential',
  baseMs: 5_000,
  factor: 2,
  maxMs: 3_600_000,
  jitter: 'full',
} as const satisfies BackoffPolicy;

/** No wait between attempts is ever longer than a day. */
export const maxBackoffMs = 86_400_000;

/** A wait that chance shortens is this long at least, or a fifth of what it could have been. */
const leastJitteredMs = 1_000;

/** What the policy says for one failed attempt. */
export interface BackoffDelay {
  /** Whole milliseconds between 0 and {@link maxBackoffMs}. */
  readonly delayMs: number;
  /** True when the policy gave a value that is no delay (NaN, negative, infinite) and the cap was taken instead. */
  readonly clamped: boolean;
}

/**
 * The wait after the given attempt (1 for the first).
 *
 * @param random uniform in [0, 1); called only when the policy has jitter.
 */
export function backoffDelay(
  policy: BackoffPolicy,
  attempt: number,
  random: () => number,
): BackoffDelay {
  return clampDelay(rawDelayMs(policy, attempt, random));
}

/** Brings any number into the range of a delay; what is no delay becomes the cap. */
export function clampDelay(ms: number): BackoffDelay {
  if (!Number.isFinite(ms) || ms < 0) return { delayMs: maxBackoffMs, clamped: true };
  return { delayMs: Math.min(Math.round(ms), maxBackoffMs), clamped: false };
}

function rawDelayMs(policy: BackoffPolicy, attempt: number, random: () => number): number {
  switch (policy.kind) {
    case 'exponential': {
      // The growth is bounded so that it never becomes infinity times zero.
      const growth = Math.min(policy.factor ** (attempt - 1), Number.MAX_VALUE);
      const ceilingMs = Math.min(policy.maxMs, policy.baseMs * growth);
      if (policy.jitter === 'none') return ceilingMs;
      const floorMs = Math.min(leastJitteredMs, ceilingMs / 5);
      return floorMs + random() * (ceilingMs - floorMs);
    }
    case 'list':
      return policy.delaysMs[Math.min(attempt, policy.delaysMs.length) - 1] ?? Number.NaN;
    case 'fixed':
      return policy.delayMs;
  }
}

/** How long a job whose lease expired for the n-th time waits: 10 s, doubling from the second crash, at most 10 min. */
export function crashBackoffMs(crashCount: number): number {
  return Math.min(10_000 * 2 ** Math.max(0, crashCount - 2), 600_000);
}
