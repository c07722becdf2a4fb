import { isTransientError, listNewestPositions } from '@holdfast/database';
import type { Database } from '@holdfast/database';
import type { Clock, Logger, Service } from '@holdfast/runtime';

/** Tells open streams of new events: one look for all of them, and none while there are no streams. */
export interface EventWatch extends Service {
  /** Aborts when the process stops: every stream ends then. */
  readonly stopped: AbortSignal;
  /** Watches a project until it is closed. */
  open(projectId: string): ProjectWatch;
}

/** One stream's view of its project. */
export interface ProjectWatch {
  /** Resolves when there may be events behind the position, or when the signal aborts. */
  changed(after: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

const lookEveryMs = 250;

interface Watched {
  streamCount: number;
  newest: string;
  readonly waiting: Set<() => void>;
}

/** Makes the watch; nothing is sent before the first stream. */
export function createEventWatch(parts: {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}): EventWatch {
  return new PollingWatch(parts);
}

class PollingWatch implements EventWatch {
  readonly name = 'event-watch';
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #projects = new Map<string, Watched>();
  #looking: Promise<void> | undefined;

  constructor(parts: Parameters<typeof createEventWatch>[0]) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    // The first stream starts it.
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
  }

  open(projectId: string): ProjectWatch {
    const project = this.#projects.get(projectId) ?? {
      ...{ streamCount: 0, newest: '0', waiting: new Set<() => void>() },
    };
    this.#projects.set(projectId, project);
    project.streamCount += 1;
    this.#startLooking();
    return {
      changed: (after, signal) => untilNewer(project, after, signal),
      close: () => {
        project.streamCount -= 1;
        if (project.streamCount === 0) this.#projects.delete(projectId);
      },
    };
  }

  #startLooking(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      // Opened just when the last look was over.
      if (this.#projects.size > 0 && !this.stopped.aborted) this.#startLooking();
    });
  }

  async #look(): Promise<void> {
    while (this.#projects.size > 0 && !this.stopped.aborted) {
      await this.#lookOnce();
      await this.#clock.sleep(lookEveryMs, this.stopped);
    }
  }

  async #lookOnce(): Promise<void> {
    try {
      const newest = await listNewestPositions(this.#database, [...this.#projects.keys()]);
      for (const [projectId, position] of newest) {
        const project = this.#projects.get(projectId);
        if (project === undefined || project.newest === position) continue;
        project.newest = position;
        project.waiting.forEach((wake) => {
          wake();
        });
      }
    } catch (error) {
      // The streams stay, and go on when the database is back.
      const level = isTransientError(error) ? 'debug' : 'error';
      this.#logger[level]({ err: error }, 'look for new events failed');
    }
  }
}

function untilNewer(project: Watched, after: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || BigInt(project.newest) > BigInt(after)) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      project.waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    project.waiting.add(wake);
    signal.addEventListener('abort', wake);
  });
}
