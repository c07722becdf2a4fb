import { HoldfastError } from '@holdfast/domain';
import { exitCodeOf } from './exit-codes.ts';
import { parentWatch } from './parent-watch.ts';

// Long enough to flush output, short enough that a leaked handle cannot hold a deployment.
const lingerMs = 3_000;

/**
 * Runs a process's `main` and turns its end into an exit code: the number that it returns, or the
 * error's own `exitCode`. Holdfast's own errors are printed as they stand, others with their stack.
 */
export async function runProcess(main: () => Promise<number>): Promise<void> {
  parentWatch.begin();
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    process.exitCode = exitCodeOf(error);
  }
  parentWatch.end();
  if (process.connected) process.disconnect();
  setTimeout(() => process.exit(), lingerMs).unref();
}

function describe(error: unknown): string {
  if (error instanceof HoldfastError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
