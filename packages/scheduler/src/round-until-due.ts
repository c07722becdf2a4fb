import type { RoundResult } from '@holdfast/runtime';

// What is due and could not be locked is in another scheduler's hands: look again soon, but not in a spin.
const contendedPauseMs = 100;

/** The end of a round that sleeps until something is due: `dueInMs` from now, 0 or less when it is due already. */
export function roundUntilDue(dueInMs: number | undefined): RoundResult {
  return { nextInMs: dueInMs === undefined ? undefined : Math.max(dueInMs, contendedPauseMs) };
}
