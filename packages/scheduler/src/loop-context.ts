import type { Database, Notifier, Retention } from '@holdfast/database';
import type { Clock, Logger, Metrics } from '@holdfast/runtime';

/** What every loop of a scheduler works with. */
export interface LoopContext {
  readonly database: Database;
  readonly notifier: Notifier;
  readonly logger: Logger;
  /** Nothing is counted without it. */
  readonly metrics?: Metrics;
  readonly clock: Clock;
  /** The longest sleep between two rounds of the loops that are urgent. */
  readonly tickMs: number;
  /** The workers' lease. */
  readonly leaseMs: number;
  readonly retention: Retention;
}
