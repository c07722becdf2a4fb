/** A bound on time that also ends when something else does. */
export interface Deadline {
  /** Aborted with the parent's reason, or with the deadline's own. */
  readonly signal: AbortSignal;
  /** Frees the timer and the listener. Must be called, however the work ended. */
  stop(): void;
}

/** What a deadline is made from. */
export interface DeadlineOptions {
  readonly parent: AbortSignal;
  readonly timeoutMs: number;
  /** The abort reason when the time is up. */
  readonly reason: Error;
}

/**
 * Starts the clock. Used instead of `AbortSignal.any` and `AbortSignal.timeout`, whose signals stay attached to a long-lived
 * parent until they are collected.
 */
export function startDeadline(options: DeadlineOptions): Deadline {
  const { parent, timeoutMs, reason } = options;
  const controller = new AbortController();
  const abortWithParent = () => {
    controller.abort(parent.reason);
  };
  const timer = setTimeout(() => {
    controller.abort(reason);
  }, timeoutMs);
  if (parent.aborted) abortWithParent();
  else parent.addEventListener('abort', abortWithParent, { once: true });
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      parent.removeEventListener('abort', abortWithParent);
    },
  };
}

/** Settles like the promise, or rejects with the signal's reason as soon as that is aborted. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let giveUp: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => {
      // Any value by its type; every signal here is aborted with an error.
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
