import { waitFor } from '@holdfast/testing';
import type { SpawnedProcess } from '@holdfast/testing';

/** A process that is started again whenever it dies. */
export interface Supervised {
  readonly deathCount: number;
  /** Kills the process that runs now; answers false when none does. */
  kill(): boolean;
  /** Ends it by SIGTERM and waits. */
  stop(): Promise<void>;
}

/** Waits until so many deaths are known, and answers how many there are then. */
export async function untilDied(all: readonly Supervised[], atLeast: number): Promise<number> {
  const count = () => all.reduce((sum, { deathCount }) => sum + deathCount, 0);
  await waitFor(`${String(atLeast)} deaths are known`, () => count() >= atLeast);
  return count();
}

/** Looks after one process, as a service manager does. */
export function supervise(start: () => Promise<SpawnedProcess>): Supervised {
  let deathCount = 0;
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  let current: SpawnedProcess | undefined;
  const run = async (): Promise<void> => {
    while (!isStopping()) {
      // A worker that dies while it starts is a death too.
      const started = await start().catch(() => undefined);
      current = started;
      if (isStopping()) started?.kill('SIGTERM');
      await started?.exited;
      if (!isStopping()) deathCount += 1;
    }
  };
  const ended = run();
  return {
    get deathCount() {
      return deathCount;
    },
    kill() {
      if (current?.isRunning() !== true) return false;
      current.kill('SIGKILL');
      // It counts as running until its end is known here, and must not be killed twice.
      current = undefined;
      return true;
    },
    async stop() {
      stopping.abort();
      current?.kill('SIGTERM');
      await ended;
    },
  };
}
