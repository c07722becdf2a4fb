import type { Database, Notifier } from '@holdfast/database';
import type { Clock, Logger, Metrics } from '@holdfast/runtime';

/** What every loop of a scheduler works with. */
export interface LoopContext {
  readonly database: Database;
  readonly notifier: Notifier;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The longest sleep between two rounds of promoter, reaper and cron. */
  readonly tickMs: number;
  readonly clock: Clock;
}
