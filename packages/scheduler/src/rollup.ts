import { mergeStats } from '@holdfast/database';
import { createLoop } from '@holdfast/runtime';
import type { Loop } from '@holdfast/runtime';
import type { LoopContext } from './loop-context.ts';

const rollUpEveryMs = 60_000;

/** Merges the figures that each worker wrote for itself, once their minute is over. */
export function createRollup(context: LoopContext): Loop {
  return createLoop({
    ...context,
    name: 'rollup',
    maxIntervalMs: rollUpEveryMs,
    run: async () => {
      await mergeStats(context.database);
      return { nextInMs: undefined };
    },
  });
}
