import type { Connection } from './connection.ts';
import type { EventHub } from './event-hub.ts';
import type { JobWriter } from './job-writer.ts';
import type { TransactionAdapter } from './transaction-adapter.ts';

/** What the parts of the SDK share and users do not see. */
export interface Internals {
  readonly connection: Connection;
  readonly events: EventHub;
  readonly writer: JobWriter;
  /** Of whatever transactions the application has. */
  readonly adapter: TransactionAdapter<unknown>;
  /** Whether the adapter is the application's own. */
  readonly hasOwnAdapter: boolean;
  readonly project: string;
}

const known = new WeakMap<object, Internals>();

/** Keeps the internals of a `Holdfast`. */
export function keepInternals(holdfast: object, internals: Internals): void {
  known.set(holdfast, internals);
}

/** Whether it is a `Holdfast`, for callers in plain JavaScript. */
export function isHoldfast(value: unknown): boolean {
  return typeof value === 'object' && value !== null && known.has(value);
}

/**
 * The internals of a `Holdfast`.
 *
 * @throws TypeError for anything else
 */
export function internalsOf(holdfast: object): Internals {
  const internals = known.get(holdfast);
  if (internals === undefined) throw new TypeError('holdfast must be an instance of Holdfast');
  return internals;
}
