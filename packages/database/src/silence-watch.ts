import type { Client } from 'pg';

/** The part of a client that a watch ends. */
export type WatchedClient = Pick<Client, 'connection'>;

/** Longer than the server's own limit of a statement. */
const longestSilenceMs = 12_000;

/**
 * Ends a connection whose other end has vanished without a word, such as that of a host that lost its power: otherwise
 * whoever waits for an answer would wait for a quarter of an hour, until the network gives up.
 */
export class SilenceWatch {
  readonly #client: WatchedClient;
  #awaitedCount = 0;
  #heardAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param client one that is connected */
  constructor(client: WatchedClient) {
    this.#client = client;
  }

  /**
   * Passes the answer to a statement on. When nothing is heard for too long, of this one or of others that are under way,
   * all of them fail with the code `ETIMEDOUT`.
   */
  async during<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (this.#awaitedCount === 0) this.#begin();
    this.#awaitedCount += 1;
    try {
      return await answer;
    } finally {
      this.#awaitedCount -= 1;
      this.#heardAtMs = performance.now();
      if (this.#awaitedCount === 0) clearTimeout(this.#timer);
    }
  }

  #begin(): void {
    this.#heardAtMs = performance.now();
    this.#lookAfter(longestSilenceMs);
  }

  #lookAfter(durationMs: number): void {
    // After a blocked event loop timers come first; what the server has said meanwhile must be heard before the verdict.
    this.#timer = setTimeout(() => setImmediate(() => this.#look()), durationMs).unref();
  }

  #look(): void {
    if (this.#awaitedCount === 0) return;
    const leftMs = this.#heardAtMs + longestSilenceMs - performance.now();
    if (leftMs > 0) {
      this.#lookAfter(leftMs);
      return;
    }
    const message = `The database has said nothing for ${String(longestSilenceMs / 1_000)} s`;
    const error = Object.assign(new Error(message), { code: 'ETIMEDOUT' });
    this.#client.connection.stream.destroy(error);
  }
}
