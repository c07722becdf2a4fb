import { openListener } from '@holdfast/database';
import type { Database, Listener } from '@holdfast/database';
import type { Loop, Service } from '@holdfast/runtime';

/** Wakes loops when a process says that something became due, and after each reconnection, in case one was missed. */
export function createWakeUpListener(database: Database, loops: readonly Loop[]): Service {
  let listener: Listener | undefined;
  const wakeAll = (): void => {
    loops.forEach((loop) => {
      loop.wake();
    });
  };
  return {
    name: 'wake-up-listener',
    start: () => {
      listener = openListener(database, { onDue: wakeAll, onConnected: wakeAll });
    },
    stop: async () => {
      await listener?.close();
      listener = undefined;
    },
  };
}
