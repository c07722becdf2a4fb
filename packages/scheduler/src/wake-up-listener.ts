import { openListener } from '@holdfast/database';
import type { Database, Listener } from '@holdfast/database';
import type { Loop, Service } from '@holdfast/runtime';

/** The loops to wake when something became due, and when there are new events. */
export interface WokenLoops {
  readonly due: readonly Loop[];
  readonly events: readonly Loop[];
}

/** Wakes loops when a process has news for them, and after each reconnection, in case some were missed. */
export function createWakeUpListener(database: Database, loops: WokenLoops): Service {
  let listener: Listener | undefined;
  const wake = (some: readonly Loop[]): void => {
    some.forEach((loop) => {
      loop.wake();
    });
  };
  return {
    name: 'wake-up-listener',
    start: () => {
      listener = openListener(database, {
        onDue: () => {
          wake(loops.due);
        },
        onEvents: () => {
          wake(loops.events);
        },
        onConnected: () => {
          wake([...loops.due, ...loops.events]);
        },
      });
    },
    stop: async () => {
      await listener?.close();
      listener = undefined;
    },
  };
}
