import type { JobContext } from './job-context.ts';
import type { RegisteredTransaction } from './register.ts';

/** One run of a job, as middleware sees it. */
export interface JobRunCall<Tx = RegisteredTransaction> {
  /** As it is stored; the schema is applied behind the last middleware. */
  readonly payload: unknown;
  readonly ctx: JobContext<Tx>;
}

/**
 * Wraps every run of a worker's jobs: does its part, and answers what `next` gives. `next` takes another payload, if it
 * is given one.
 */
export type RunMiddleware<Tx = RegisteredTransaction> = (
  run: JobRunCall<Tx>,
  next: (payload?: unknown) => Promise<unknown>,
) => unknown;
