import type { SpawnedProcess } from '@holdfast/testing';

/** A process that is started again whenever it dies. */
export interface Supervised {
  readonly deathCount: number;
  /** Kills the process that runs now; answers false when none does. */
  kill(): boolean;
  /** Ends it by SIGTERM and waits. */
  stop(): Promise<void>;
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
      current = await start().catch(() => undefined);
      if (isStopping()) current?.kill('SIGTERM');
      await current?.exited;
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
      return true;
    },
    async stop() {
      stopping.abort();
      current?.kill('SIGTERM');
      await ended;
    },
  };
}
