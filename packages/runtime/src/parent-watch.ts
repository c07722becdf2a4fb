import { exitCodes } from './exit-codes.ts';

/**
 * A process that was started with an IPC channel does not outlive its parent. While it is still starting there is
 * nothing to drain, so it ends at once; later `runUntilSignal` takes over and stops in order.
 */
export const parentWatch = {
  begin(): void {
    process.on('disconnect', endAtOnce);
  },
  end(): void {
    process.off('disconnect', endAtOnce);
  },
};

function endAtOnce(): void {
  process.exit(exitCodes.failure);
}
