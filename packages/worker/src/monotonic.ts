/**
 * Milliseconds on the machine's monotonic clock. Unlike `performance.now()` it has one origin for all threads of the
 * process, and it goes on while the process is stopped.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
