import { context, diag } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';

/**
 * Calls OpenTelemetry, whose tracer and propagator are the application's choice: what fails there is left out and told to
 * the application's `diag` logger, for the job matters more than its trace.
 */
export function withoutHarm<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    try {
      diag.error('holdfast: a part of the trace is left out, since OpenTelemetry failed', error);
    } catch {
      // Then nobody is there to be told.
    }
    return undefined;
  }
}

/** Runs in a context, once, also where the context manager fails. */
export function runWithin<Result>(active: Context, run: () => Promise<Result>): Promise<Result> {
  let running: Promise<Result> | undefined;
  const runOnce = (): Promise<Result> => (running ??= run());
  withoutHarm(() => void context.with(active, runOnce));
  return runOnce();
}
