import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';

/** Queues that got promoted jobs, and whether a whole page was promoted so that more may be due. */
export interface Promoted {
  readonly count: number;
  /** Jobs that were cancelled because their start deadline had passed. */
  readonly expiredCount: number;
  readonly queueIds: readonly string[];
  readonly more: boolean;
}

/**
 * Moves one page of due jobs into their queues, ends pauses whose end has come, and cancels one page of jobs that have
 * not started by their deadline.
 */
export async function promoteJobs(db: Database, limit = 1_000): Promise<Promoted> {
  const expired = await db.query<{ readonly id: string }>(statements.expireJobs, [limit]);
  const resumed = await db.query<{ readonly queue_id: string }>(statements.resumeExpiredPauses);
  const rows = await db.query<{ readonly queue_id: string }>(statements.promoteJobs, [limit]);
  const queueIds = new Set([...rows, ...resumed].map((row) => row.queue_id));
  return {
    count: rows.length,
    expiredCount: expired.length,
    queueIds: [...queueIds],
    more: rows.length >= limit || expired.length >= limit,
  };
}

/** Milliseconds until the next scheduled job or end of a pause is due (0 or less: now); undefined when there is none. */
export async function nextDueInMs(db: Database): Promise<number | undefined> {
  const [row] = await db.query<{ readonly due_in_ms: number | null }>(statements.nextDueIn);
  return row?.due_in_ms ?? undefined;
}
