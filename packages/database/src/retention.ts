import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Statement } from './generated/statements.ts';
import { dropExpiredPartitions } from './partitions.ts';
import type { SqlValue } from './queryable.ts';

/** How long things are kept, in milliseconds. */
export interface Retention {
  /** Completed and cancelled jobs with their executions and logs. */
  readonly historyMs: number;
  readonly deadLettersMs: number;
  readonly statsMs: number;
  readonly firesMs: number;
  readonly eventsMs: number;
  /** Workers that stopped or fell silent stay to be seen for this long. */
  readonly workersMs: number;
}

/** What is kept when nothing is configured. */
export const defaultRetention: Retention = {
  historyMs: 7 * 86_400_000,
  deadLettersMs: 90 * 86_400_000,
  statsMs: 31 * 86_400_000,
  firesMs: 31 * 86_400_000,
  eventsMs: 7 * 86_400_000,
  workersMs: 3_600_000,
};

/** What one round of pruning removed. */
export interface PruneReport {
  readonly partitions: readonly string[];
  readonly retiredDeadLetters: number;
}

const pageSize = 1_000;
/** A key that was asked for lately is likely to be asked for again. */
const unusedKeysMs = 3_600_000;

/** Removes what retention no longer keeps, page by page. It never removes a job that can still change. */
export async function prune(database: Database, retention: Retention): Promise<PruneReport> {
  const { historyMs, deadLettersMs } = retention;
  const retiredDeadLetters = await pages(database, statements.retireDeadLetters, [deadLettersMs]);
  const partitions = await dropExpiredPartitions(database, historyMs);
  await pages(database, statements.forgetUnpartitionedHistory, [deadLettersMs + historyMs]);
  await pages(database, statements.forgetUnpartitionedExecutions, [historyMs]);
  await pages(database, statements.forgetUnpartitionedLogs, [historyMs]);
  await pages(database, statements.forgetLateResults, [historyMs]);
  await pages(database, statements.forgetBatches, [historyMs]);
  await pages(database, statements.forgetDependencies, [historyMs]);
  await pages(database, statements.forgetSteps, [historyMs]);
  await pages(database, statements.forgetFires, [retention.firesMs]);
  await pages(database, statements.forgetEvents, [retention.eventsMs]);
  await pages(database, statements.forgetIdempotencyKeys, []);
  await pages(database, statements.forgetUniqueKeys, [unusedKeysMs]);
  await pages(database, statements.forgetSessions, [historyMs]);
  await pages(database, statements.forgetSignInTickets, [historyMs]);
  await database.query(statements.forgetStats, [retention.statsMs]);
  await database.query(statements.forgetWorkers, [retention.workersMs]);
  return { partitions, retiredDeadLetters };
}

/** Merges the per-worker rows of minutes that are over. */
export async function mergeStats(database: Database): Promise<void> {
  await database.query(statements.mergeStats);
}

/** Rows of the last day that found no partition; anything but 0 is an alarm. */
export async function countUnpartitioned(database: Database): Promise<number> {
  const [row] = await database.query<{ readonly row_count: string }>(statements.countUnpartitioned);
  return Number(row?.row_count ?? 0);
}

async function pages(
  database: Database,
  statement: Statement,
  values: readonly SqlValue[],
): Promise<number> {
  let total = 0;
  for (;;) {
    const rows = await database.query(statement, [...values, pageSize]);
    total += rows.length;
    if (rows.length < pageSize) return total;
  }
}
