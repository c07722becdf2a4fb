import type { ResourceLimits } from 'node:worker_threads';
import type { JobContext, JobHandler } from '../handler.ts';

/**
 * A handler that runs in a thread of its own, for work that keeps the processor busy or that must be ended by force: a
 * thread whose attempt is aborted and does not end within the grace is terminated.
 *
 * Its payload is copied to the thread, and its result comes back as JSON. `context.transaction` and
 * `context.assertLease` are not there.
 */
export interface ThreadHandler {
  readonly isolate: 'thread';
  /** The URL of the module that the thread imports. */
  readonly module: string | URL;
  /** Which export the handler is. By default the one that belongs to the job type; see `findHandler`. */
  readonly exportName?: string | undefined;
  /** A module whose export `adaptHandler` turns what was found into a handler; both run in the thread. */
  readonly adapter?: string | URL | undefined;
  /** What the adapted handler may call in the main thread, by `context.call(name, …)`. */
  readonly calls?: ThreadCalls | undefined;
  /** Goes around the handler in the main thread. */
  readonly wrap?: ((handler: JobHandler) => JobHandler) | undefined;
  /** Memory that the thread may use; without it, as much as the process. */
  readonly resourceLimits?: ResourceLimits | undefined;
  /** Node's options for the thread; by default those of the process. */
  readonly execArgv?: readonly string[] | undefined;
}

/** Functions of the main thread by name. Arguments are copied; results come back as JSON. */
export type ThreadCalls = Readonly<
  Record<string, (context: JobContext, ...args: readonly unknown[]) => unknown>
>;

/** The context of a handler in a thread. */
export interface ThreadJobContext extends JobContext {
  /** Calls a function of the main thread that the handler's entry names. */
  call(name: string, ...args: readonly unknown[]): Promise<unknown>;
}

/** The export `adaptHandler` of an adapter module. */
export type HandlerAdapter = (found: unknown, type: string) => JobHandler;

/** Whether the entry of a job type asks for a thread. */
export function isThreadHandler(entry: JobHandler | ThreadHandler): entry is ThreadHandler {
  return typeof entry !== 'function';
}
