import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { FromThread, ThreadStart, ToThread } from './thread-messages.ts';

/** Who hears what comes from the thread. */
export interface ThreadListener {
  readonly onMessage: (message: FromThread) => void;
  /** The thread sent something that cannot be read here. */
  readonly onUnreadable: (error: unknown) => void;
}

/**
 * The main thread's end of a channel to a thread. It is not the one of `parentPort`, on which the handlers' own code may
 * post what it likes.
 */
export class ThreadPort {
  readonly #port: MessagePort;
  readonly #listener: ThreadListener;

  constructor(worker: Worker, listener: ThreadListener) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#listener = listener;
    port1.on('message', listener.onMessage);
    port1.on('messageerror', listener.onUnreadable);
    port1.unref();
    const start: ThreadStart = { port: port2 };
    worker.postMessage(start, [port2]);
  }

  post(message: ToThread): void {
    this.#port.postMessage(message);
  }

  /** Reads what the thread sent before its end, and closes. */
  finish(): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.#listener.onMessage(next.message);
    }
    this.#port.close();
  }

  #take(): { readonly message: FromThread } | undefined {
    try {
      return receiveMessageOnPort(this.#port);
    } catch (error) {
      this.#listener.onUnreadable(error);
      return undefined;
    }
  }
}
