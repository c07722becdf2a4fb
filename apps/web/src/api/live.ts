import { useSyncExternalStore } from 'react';

/** How often what is on the screen is asked for again. */
const pollEveryMs = 2_000;

/** Figures that change by the minute need no more than this. */
const slowPollEveryMs = 15_000;

const listeners = new Set<() => void>();
let live = true;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the dashboard follows by itself. */
export function useLive(): boolean {
  return useSyncExternalStore(subscribe, () => live);
}

/** Turns following on or off. */
export function setLive(next: boolean): void {
  live = next;
  for (const listener of listeners) listener();
}

/** The poll interval for query options: read anew after each answer, so that turning it off takes effect. */
export function pollInterval(): number | false {
  return live ? pollEveryMs : false;
}

/** The poll interval of figures over longer times. */
export function slowPollInterval(): number | false {
  return live ? slowPollEveryMs : false;
}
