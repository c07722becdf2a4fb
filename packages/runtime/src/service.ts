/**
 * A part of a process with a life of its own: a loop, a server, a listener.
 *
 * `runUntilSignal` starts services in order and stops them in reverse order.
 */
export interface Service {
  /** Short name for logs and metrics, such as `promoter`. */
  readonly name: string;
  /** Begins the work; a promise resolves when the service is able to serve. */
  start(): void | Promise<void>;
  /** Resolves when the work in hand has ended; safe to call twice and before `start`. */
  stop(): Promise<void>;
}
