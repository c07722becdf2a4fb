import { afterEach, beforeEach, onTestFailed } from 'vitest';
import { openArena } from './arena.ts';
import type { Arena } from './arena.ts';

/** Gives each test an arena of its own and shows what its processes wrote when the test fails. */
export function useArena(): () => Arena {
  let arena: Arena | undefined;
  beforeEach(async () => {
    const opened = await openArena();
    arena = opened;
    onTestFailed(() => {
      console.error(opened.outputs());
    });
  });
  afterEach(async () => {
    await arena?.close();
    arena = undefined;
  });
  return () => {
    if (arena === undefined) throw new Error('The arena is open only while a test runs');
    return arena;
  };
}
