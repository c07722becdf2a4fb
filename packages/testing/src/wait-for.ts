import { setTimeout as sleep } from 'node:timers/promises';

const pollEveryMs = 20;

/** How patient the wait is. */
export interface WaitForOptions {
  /**
   * How long the condition may take; default 45 s. Nobody waits that long when all is well: it only decides when a hanging test
   * is told what it hangs at, and a busy machine must not come near it.
   */
  readonly timeoutMs?: number;
}

/** What a condition answers while it does not hold. */
export type NotYet = undefined | null | false;

/**
 * Asks again and again until the condition holds, and gives back its value.
 * Throws an error that names the condition, with the last error that the question itself gave.
 */
export async function waitFor<T>(
  condition: string,
  ask: () => T | NotYet | Promise<T | NotYet>,
  { timeoutMs = 45_000 }: WaitForOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await attempt(ask);
    if (answer.holds) return answer.value;
    if (performance.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain until ${condition}`, { cause: answer.error });
    }
    await sleep(pollEveryMs);
  }
}

type Answer<T> =
  { readonly holds: true; readonly value: T } | { readonly holds: false; readonly error?: unknown };

async function attempt<T>(ask: () => T | NotYet | Promise<T | NotYet>): Promise<Answer<T>> {
  try {
    const value = await ask();
    if (value === undefined || value === null || value === false) return { holds: false };
    return { holds: true, value };
  } catch (error) {
    return { holds: false, error };
  }
}
