import { exitCodeOf, exitCodes } from '@holdfast/runtime';

/**
 * Makes the process end with the exit code of an error, be it caught or not; what the application gives to
 * `process.exit` wins.
 */
export function leaveExitCode(error: unknown): void {
  const code = exitCodeOf(error);
  process.exitCode = code;
  // An error that nobody catches makes it 1 again.
  process.once('uncaughtExceptionMonitor', (uncaught: unknown) => {
    if (uncaught !== error) return;
    process.once('exit', (ended) => {
      if (ended === exitCodes.failure) process.exitCode = code;
    });
  });
}
