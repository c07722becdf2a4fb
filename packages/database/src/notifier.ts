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
  /** A cancel or another request waits for this worker. */
  wakeWorker(workerId: string): void;
  close(): Promise<void>;
}

const notify: Statement = { name: 'notify_wake_up', text: 'select pg_notify($1, $2)' };

/** Each target is notified at most once in this time, first at once and then at its end. */
const quietMs = 50;

/** The channel of the schema's wake-ups. Payloads: `queue:<id>`, `due`, `worker:<id>`. */
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
  wakeWorker: () => undefined,
  close: () => Promise.resolve(),
};

class CoalescingNotifier implements Notifier {
  readonly #channel: string;
  readonly #lane: Lane;
  readonly #quiet = new Map<string, { readonly timer: NodeJS.Timeout; again: boolean }>();
  #closed = false;

  constructor(database: Database) {
    this.#channel = wakeUpChannel(database.schema);
    this.#lane = database.openLane('lane');
  }

  wakeQueues(queueIds: readonly string[]): void {
    for (const id of queueIds) this.#wake(`queue:${id}`);
  }

  wakeSchedulers(): void {
    this.#wake('due');
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
    void this.#send(target);
    const timer = setTimeout(() => {
      const again = this.#quiet.get(target)?.again === true;
      this.#quiet.delete(target);
      if (again) this.#wake(target);
    }, quietMs);
    timer.unref();
    this.#quiet.set(target, { timer, again: false });
  }

  async #send(target: string): Promise<void> {
    await this.#lane.query(notify, [this.#channel, target]).catch(() => undefined);
  }
}
