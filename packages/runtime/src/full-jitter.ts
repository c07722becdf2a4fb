/** How waits between tries grow. */
export interface JitterPolicy {
  /** Ceiling of the first wait. */
  readonly baseMs: number;
  /** No wait is longer than this. */
  readonly capMs: number;
}

/**
 * A random wait between nothing and `base · 2^(failures-1)`, at most the cap ("full jitter": tries of
 * many processes spread evenly instead of meeting again).
 *
 * @param failureCount failures so far in a row, from 1
 * @param random a number in [0, 1)
 */
export function fullJitterMs(
  failureCount: number,
  policy: JitterPolicy,
  random: () => number,
): number {
  const ceilingMs = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(failureCount - 1, 40));
  return Math.round(random() * ceilingMs);
}
