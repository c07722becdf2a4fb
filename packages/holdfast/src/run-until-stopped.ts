import { exitCodes } from '@holdfast/runtime';

/** Something that a signal stops. */
export interface Stoppable {
  stop(): Promise<void>;
  /** Resolves when it has stopped, for whatever reason. */
  readonly stopped: Promise<void>;
}

/**
 * Stops it at SIGTERM or SIGINT; a second signal ends the process at once. Resolves when it has stopped.
 */
export async function runUntilStopped(target: Stoppable): Promise<void> {
  let isAsked = false;
  const listen = (exitCode: number) => (): void => {
    if (isAsked) process.exit(exitCode);
    isAsked = true;
    // Its failure is told to whoever waits for the end.
    target.stop().catch(() => undefined);
  };
  const listeners = {
    SIGTERM: listen(exitCodes.terminated),
    SIGINT: listen(exitCodes.interrupted),
  } as const;
  process.on('SIGTERM', listeners.SIGTERM).on('SIGINT', listeners.SIGINT);
  try {
    await target.stopped;
  } finally {
    process.off('SIGTERM', listeners.SIGTERM).off('SIGINT', listeners.SIGINT);
  }
}
