import type { Database } from './database.ts';
import type { Statement } from './generated/statements.ts';
import type { Lane } from './lane.ts';

/**
 * Wakes idle processes after a commit. Wake-ups make jobs start fast; polling makes them start for sure, so an error
 * here is swallowed.
 */
export interface Notifier {
  /** Jobs of these queues became due. */
  wakeQueues(queueIds: readonly string[]): void;
  /** A job or schedule became due for some later time. */
  wakeSchedulers(): void;
  /** Events wait to be dispatched, or somebody subscribed to some. */
  wakeDispatchers(): void;
  /** A cancel or another request waits for this worker. */
  wakeWorker(workerId: string): void;
  close(): Promise<void>;
}

/** Jobs that were made or unblocked, as far as it matters whom to wake for them. */
export interface DueJobs {
  /** Queues that got jobs which are due now. */
  readonly queueIds: readonly string[];
  /** Whether some of the jobs are for later. */
  readonly scheduled: boolean;
}

/** Wakes whoever the jobs concern; to be called after their commit. */
export function wakeForJobs(notifier: Notifier, { queueIds, scheduled }: DueJobs): void {
  notifier.wakeQueues(queueIds);
  if (scheduled) notifier.wakeSchedulers();
}

const notify: Statement = { name: 'notify_wake_up', text: 'select pg_notify($1, $2)' };

/**
 * A target is notified at once, and then not before this time has passed. As long as there is always somebody to notify
 * when it has, it doubles up to its maximum: jobs now and then start fast, and many a second cause few notifications.
 */
const quietMs = { min: 20, max: 50 } as const;

interface Quiet {
  readonly timer: NodeJS.Timeout;
  again: boolean;
}

/** The channel of the schema's wake-ups. Payloads: `queue:<id>`, `due`, `events`, `worker:<id>`. */
export function wakeUpChannel(schema: string): string {
  return `${schema}_wake_up`;
}

/** Makes a notifier with a connection of its own. Behind a transaction pooler it does nothing. */
export function createNotifier(database: Database): Notifier {
  return database.settings.pooled === true ? silentNotifier : new CoalescingNotifier(database);
}

/** A notifier that wakes nobody, where polling does all the work. */
export const silentNotifier: Notifier = {
  wakeQueues: () => undefined,
  wakeSchedulers: () => undefined,
  wakeDispatchers: () => undefined,
  wakeWorker: () => undefined,
  close: () => Promise.resolve(),
};

class CoalescingNotifier implements Notifier {
  readonly #channel: string;
  readonly #lane: Lane;
  readonly #quiet = new Map<string, Quiet>();
  #closed = false;

  constructor(database: Database) {
    this.#channel = wakeUpChannel(database.schema);
    // Each notification is a commit, but none is worth waiting for the disk.
    this.#lane = database.openLane('claims');
  }

  wakeQueues(queueIds: readonly string[]): void {
    for (const id of queueIds) this.#wake(`queue:${id}`);
  }

  wakeSchedulers(): void {
    this.#wake('due');
  }

  wakeDispatchers(): void {
    this.#wake('events');
  }

  wakeWorker(workerId: string): void {
    this.#wake(`worker:${workerId}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const [target, { timer, again }] of this.#quiet) {
      clearTimeout(timer);
      if (again) await this.#send(target);
    }
    this.#quiet.clear();
    await this.#lane.close();
  }

  #wake(target: string): void {
    if (this.#closed) return;
    const quiet = this.#quiet.get(target);
    if (quiet !== undefined) {
      quiet.again = true;
      return;
    }
    this.#notify(target, quietMs.min);
  }

  #notify(target: string, thenQuietMs: number): void {
    void this.#send(target);
    const timer = setTimeout(() => {
      const again = this.#quiet.get(target)?.again === true;
      this.#quiet.delete(target);
      if (again) this.#notify(target, Math.min(2 * thenQuietMs, quietMs.max));
    }, thenQuietMs);
    timer.unref();
    this.#quiet.set(target, { timer, again: false });
  }

  async #send(target: string): Promise<void> {
    await this.#lane.query(notify, [this.#channel, target]).catch(() => undefined);
  }
}
