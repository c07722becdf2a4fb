import { useSyncExternalStore } from 'react';

const tickMs = 1_000;
const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const notify of listeners) notify();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current time in epoch milliseconds, renewed each second by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}

/** The current time in epoch milliseconds, for what is computed once, such as the end of a pause. */
export function currentTimeMs(): number {
  return Date.now();
}
