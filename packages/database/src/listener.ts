import pg from 'pg';
import type { Client } from 'pg';
import { clientConfig } from './connection-settings.ts';
import type { Database } from './database.ts';
import { wakeUpChannel } from './notifier.ts';

/** What a process wants to hear of. */
export interface WakeUpHandlers {
  onQueue?(queueId: string): void;
  onDue?(): void;
  onEvents?(): void;
  onWorker?(workerId: string): void;
  /** Called after each (re)connection: wake-ups may have been missed, so look for yourself. */
  onConnected?(): void;
}

/** A running subscription to wake-ups. */
export interface Listener {
  /** False while wake-ups cannot arrive; poll more often then. */
  readonly connected: boolean;
  close(): Promise<void>;
}

const pingEveryMs = 10_000;
const pingDeadlineMs = 5_000;

/**
 * Listens on a connection of its own, which never opens a transaction. A half-open connection is found by a ping every
 * 10 s; lost ones are replaced with a growing, jittered wait. Behind a transaction pooler nothing is ever heard.
 */
export function openListener(database: Database, handlers: WakeUpHandlers): Listener {
  const listener = new ReconnectingListener(database, handlers);
  if (database.settings.pooled !== true) listener.connect();
  return listener;
}

class ReconnectingListener implements Listener {
  readonly #database: Database;
  readonly #handlers: WakeUpHandlers;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;
  connected = false;

  constructor(database: Database, handlers: WakeUpHandlers) {
    this.#database = database;
    this.#handlers = handlers;
  }

  connect(): void {
    if (this.#closed) return;
    const client = new pg.Client(clientConfig(this.#database.settings, 'general'));
    this.#client = client;
    client.on('notification', ({ payload }) => this.#dispatch(payload ?? ''));
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    void this.#listen(client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.connected = false;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #listen(client: Client): Promise<void> {
    try {
      await client.connect();
      await client.query(`listen "${wakeUpChannel(this.#database.schema)}"`);
      this.#failures = 0;
      this.connected = true;
      this.#handlers.onConnected?.();
      this.#schedulePing(client);
    } catch {
      this.#lose(client);
    }
  }

  #schedulePing(client: Client): void {
    this.#timer = setTimeout(() => void this.#ping(client), pingEveryMs);
    this.#timer.unref();
  }

  async #ping(client: Client): Promise<void> {
    const deadline = setTimeout(() => this.#lose(client), pingDeadlineMs);
    try {
      await client.query('select 1');
      if (client === this.#client) this.#schedulePing(client);
    } catch {
      this.#lose(client);
    } finally {
      clearTimeout(deadline);
    }
  }

  #lose(client: Client): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.connected = false;
    void client.end().catch(() => undefined);
    if (this.#closed) return;
    this.#failures += 1;
    const waitMs = Math.random() * Math.min(30_000, 100 * 2 ** Math.min(this.#failures, 10));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.connect(), waitMs);
    this.#timer.unref();
  }

  #dispatch(payload: string): void {
    const [target, id = ''] = payload.split(':', 2);
    if (target === 'queue') this.#handlers.onQueue?.(id);
    else if (target === 'due') this.#handlers.onDue?.();
    else if (target === 'events') this.#handlers.onEvents?.();
    else if (target === 'worker') this.#handlers.onWorker?.(id);
  }
}
