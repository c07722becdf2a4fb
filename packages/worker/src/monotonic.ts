// The same clock is read twice, because reading it as a number costs a third of reading it as a bigint.
const threadOriginMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Milliseconds on the machine's monotonic clock. Unlike `performance.now()` it has one origin for all threads of the
 * process, and it goes on while the process is stopped.
 */
export function monotonicMs(): number {
  return performance.now() + threadOriginMs;
}
