import { HoldfastError } from '@holdfast/domain';
import { JobThread } from './job-thread.ts';
import type { JobThreadOptions } from './job-thread.ts';

/** What a thread is needed for: threads of the same make serve each other's handlers. */
export type ThreadMake = Omit<JobThreadOptions, 'onExit'>;

/** Threads that wait for work end after this time, and give their memory back. */
const idleMs = 30_000;

/** The threads of a worker, at most as many as handlers run at once. */
export class ThreadPool {
  readonly #maxThreads: number;
  readonly #makes = new Map<JobThread, string>();
  /** Of threads that wait for work, the longest waiting first. */
  readonly #idle = new Map<JobThread, NodeJS.Timeout>();

  constructor(maxThreads: number) {
    this.#maxThreads = maxThreads;
  }

  /** Threads that exist. */
  get size(): number {
    return this.#makes.size;
  }

  /** A thread that nobody else uses. */
  take(make: ThreadMake): JobThread {
    const key = JSON.stringify([make.resourceLimits, make.execArgv]);
    const waiting = [...this.#idle.keys()].reverse();
    const found = waiting.find((thread) => this.#makes.get(thread) === key);
    if (found !== undefined) {
      this.#stopWaiting(found);
      return found;
    }
    const [oldest] = this.#idle.keys();
    if (this.#makes.size >= this.#maxThreads && oldest !== undefined) this.#end(oldest);
    const thread = new JobThread({ ...make, onExit: this.#forget });
    this.#makes.set(thread, key);
    return thread;
  }

  /** The thread waits for work again. */
  giveBack(thread: JobThread): void {
    if (!thread.isUsable || !this.#makes.has(thread)) return;
    const timer = setTimeout(() => {
      this.#end(thread);
    }, idleMs);
    timer.unref();
    this.#idle.set(thread, timer);
  }

  /** Ends all threads, whatever they do. */
  async close(): Promise<void> {
    const threads = [...this.#makes.keys()];
    await Promise.all(threads.map((thread) => thread.terminate(notNeeded())));
  }

  readonly #forget = (thread: JobThread): void => {
    this.#stopWaiting(thread);
    this.#makes.delete(thread);
  };

  #end(thread: JobThread): void {
    this.#forget(thread);
    void thread.terminate(notNeeded());
  }

  #stopWaiting(thread: JobThread): void {
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
  }
}

function notNeeded(): HoldfastError {
  return new HoldfastError('The thread is not needed any more', { code: 'shutdown' });
}
