import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Statement } from './generated/statements.ts';
import type { SqlValue } from './queryable.ts';

/** How the reaper judges. */
export interface ReapOptions {
  /** The lease of the workers; after a server start or failover nothing is reaped for this long. */
  readonly leaseMs: number;
  /** A job that took down this many workers is a poison pill; default 3. */
  readonly poisonCount?: number;
  /** Wait after the second crash, doubling with each further one; default 10 s. */
  readonly crashBackoffMs?: number;
  /** Jobs of a mass loss are spread over this time; default 10 s. */
  readonly spreadMs?: number;
  /** A cancel request is forced after this time; default 30 s. */
  readonly cancelGraceMs?: number;
}

/** What one round of the reaper did, in jobs. */
export interface ReapReport {
  readonly requeued: number;
  readonly delayed: number;
  readonly poisoned: number;
  readonly spread: number;
  readonly cancelled: number;
  /** Workers that fell silent lately. */
  readonly lostWorkers: number;
  /** True when the round was skipped because the server has just become the primary. */
  readonly waiting: boolean;
}

const pageSize = 1_000;

/** At least this many workers, and more than this share, lost within one lease make a mass loss. */
const massLoss = { workers: 3, share: 0.3 } as const;

/**
 * One round of the reaper: every expired lease is taken away, page by page, each read and write being one statement.
 */
export async function reapExpiredLeases(db: Database, options: ReapOptions): Promise<ReapReport> {
  const { leaseMs, poisonCount = 3, crashBackoffMs = 10_000 } = options;
  const { spreadMs = 10_000, cancelGraceMs = 30_000 } = options;
  const pages = (statement: Statement, values: readonly SqlValue[]) =>
    runPages(db, statement, values);
  if (await failedOverWithin(db, leaseMs)) return { ...nothing, waiting: true };
  const cancelled = await pages(statements.forceCancelJobs, [cancelGraceMs, pageSize]);
  await db.query(statements.markLostWorkers);
  const workers = await countLostWorkers(db);
  const spread = isMassLoss(workers)
    ? await pages(statements.reapSpreadJobs, [leaseMs, pageSize, spreadMs])
    : 0;
  const poisoned = await pages(statements.reapPoisonJobs, [leaseMs, pageSize, poisonCount]);
  const delayed = await pages(statements.reapSuspectJobs, [
    leaseMs,
    pageSize,
    crashBackoffMs,
    poisonCount,
  ]);
  const blameless = await pages(statements.reapBlamelessJobs, [leaseMs, pageSize]);
  const first = await pages(statements.reapJobs, [leaseMs, pageSize]);
  const requeued = blameless + first;
  const { lostCount: lostWorkers } = workers;
  return { ...nothing, cancelled, spread, poisoned, delayed, requeued, lostWorkers };
}

const nothing: ReapReport = {
  requeued: 0,
  delayed: 0,
  poisoned: 0,
  spread: 0,
  cancelled: 0,
  lostWorkers: 0,
  waiting: false,
};

async function runPages(
  db: Database,
  statement: Statement,
  values: readonly SqlValue[],
): Promise<number> {
  let total = 0;
  for (;;) {
    const rows = await db.query(statement, values);
    total += rows.length;
    if (rows.length < pageSize) return total;
  }
}

async function failedOverWithin(db: Database, leaseMs: number): Promise<boolean> {
  const [row] = await db.query<{ readonly unchanged_for_ms: number; readonly first: boolean }>(
    statements.observeTimeline,
  );
  return row !== undefined && !row.first && row.unchanged_for_ms < leaseMs;
}

async function countLostWorkers(db: Database) {
  const [row] = await db.query<{ readonly lost_count: number; readonly worker_count: number }>(
    statements.countLostWorkers,
  );
  return { lostCount: row?.lost_count ?? 0, workerCount: row?.worker_count ?? 0 };
}

function isMassLoss(workers: {
  readonly lostCount: number;
  readonly workerCount: number;
}): boolean {
  return (
    workers.lostCount >= massLoss.workers &&
    workers.lostCount > workers.workerCount * massLoss.share
  );
}
