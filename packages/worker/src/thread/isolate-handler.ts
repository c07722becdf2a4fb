import { abortGraceMs } from '../executor.ts';
import type { JobContext, JobHandler } from '../handler.ts';
import type { JobThread } from './job-thread.ts';
import type { ThreadHandler } from './thread-handler.ts';
import type { ThreadRun } from './thread-messages.ts';
import type { ThreadPool } from './thread-pool.ts';

/** Where isolated handlers run. */
export interface IsolateOptions {
  readonly type: string;
  readonly pool: ThreadPool;
  /** From an abort to the end of the thread by force; default 10 s. */
  readonly graceMs?: number | undefined;
}

/** A handler like any other, which runs the one of the entry in a thread. */
export function isolateHandler(entry: ThreadHandler, options: IsolateOptions): JobHandler {
  const { pool, type, graceMs = abortGraceMs } = options;
  const { resourceLimits, execArgv, calls = {}, wrap } = entry;
  const target = {
    type,
    module: String(entry.module),
    exportName: entry.exportName,
    adapter: entry.adapter === undefined ? undefined : String(entry.adapter),
  };
  const handler = async (payload: unknown, context: JobContext): Promise<unknown> => {
    const thread = pool.take({ resourceLimits, execArgv });
    const { job, attempt } = context;
    const run: ThreadRun = { ...target, payload, job, attempt };
    const ended = thread.run(run, { context, calls });
    const stopWatching = endOnAbort(thread, context.signal, graceMs);
    try {
      return await ended;
    } finally {
      stopWatching();
      pool.giveBack(thread);
    }
  };
  return wrap === undefined ? handler : wrap(handler);
}

/** Passes an abort on, and ends the thread when its handler has not ended after the grace. */
function endOnAbort(thread: JobThread, signal: AbortSignal, graceMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    const reason = asError(signal.reason);
    thread.abort(reason);
    timer = setTimeout(() => void thread.terminate(reason), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('Aborted', { cause: reason });
}
