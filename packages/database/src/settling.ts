import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { RenamedCallback } from './make-callbacks.ts';
import { setAsideOf } from './set-aside.ts';
import type { EndingGroup } from './set-aside.ts';
import { settlePage } from './settle-page.ts';
import type { PageResult, Wakes } from './settle-page.ts';
import { isStatementTimeout, isTransientError } from './transient-error.ts';

/** What a round of the settler did. */
export interface Settled {
  readonly count: number;
  /** Queues that got jobs which are due now. */
  readonly queueIds: readonly string[];
  /** Whether some of the unblocked jobs are for later. */
  readonly scheduled: boolean;
  /** Whether there may be more to settle. */
  readonly more: boolean;
  /** Whether endings were left because somebody else holds what they are about; they are free again soon. */
  readonly isBlocked: boolean;
  /** Endings that cannot be settled. They are tried again later, and hold up nothing but their own batch. */
  readonly failures: readonly SettlingFailure[];
  /** Callbacks that were made under other ids than they were given. */
  readonly renamed: readonly RenamedCallback[];
}

/** An ending that could not be settled. */
export interface SettlingFailure {
  readonly jobId: string;
  readonly batchId: string | undefined;
  readonly error: unknown;
}

/** Endings that are settled one by one, at most, before their batch is set aside. */
const singlesLimit = 100;
const failuresLimit = 10;

interface Round {
  readonly database: Database;
  readonly limit: number;
  readonly wakes: Wakes;
  readonly failures: SettlingFailure[];
}

/**
 * Carries out what follows from jobs that ended while something waited for them: children are unblocked or cancelled,
 * batches count, callbacks are enqueued. One page of endings is one transaction. Any number of settlers may run.
 */
export async function settleEndings(database: Database, limit = 5_000): Promise<Settled> {
  const wakes: Wakes = {
    ...{ queueIds: new Set(), scheduled: false, cascaded: false },
    renamed: new Map(),
  };
  const round: Round = { database, limit, wakes, failures: [] };
  const aside = setAsideOf(database);
  const without = new Set(aside.groups());
  let isBlocked = false;
  for (;;) {
    const page = await settlePage(database, { limit, without: [...without], wakes });
    isBlocked ||= page.isBlocked;
    const isStuckBehind = page.count === 0 && page.isFull && page.blocked.length > 0;
    if (isStuckBehind) {
      // The whole page is held by others: look behind it.
      for (const id of page.blocked) without.add(id);
      continue;
    }
    const count = page.error === undefined ? page.count : await isolate(round, page);
    if (page.error === undefined) aside.clear(page.groups);
    const { queueIds, scheduled, cascaded } = wakes;
    const more = cascaded || (page.isFull && count > 0);
    const { failures } = round;
    const renamed = [...wakes.renamed.values()];
    return { count, queueIds: [...queueIds], scheduled, more, isBlocked, failures, renamed };
  }
}

/** Finds out what of a failed page cannot be settled, and settles the rest of it. */
async function isolate(round: Round, failed: PageResult): Promise<number> {
  requireLasting(failed.error);
  const { groups } = failed;
  if (groups.length === 1) return settleSingly(round, groups[0]);
  let count = 0;
  for (const group of groups) {
    const { database, limit, wakes } = round;
    const page = await settlePage(database, { limit, wakes, without: [], only: { group } });
    if (page.error === undefined) {
      count += page.count;
      continue;
    }
    requireLasting(page.error);
    count += await settleSingly(round, group);
  }
  return count;
}

/** Settles the endings of one group one by one; those that fail go to the end of the line, and the group rests. */
async function settleSingly(round: Round, group: EndingGroup): Promise<number> {
  const { database, wakes, failures } = round;
  let count = 0;
  const failed = new Set<string>();
  for (let tries = 0; tries < singlesLimit && failed.size < failuresLimit; tries += 1) {
    const page = await settlePage(database, { limit: 1, wakes, without: [], only: { group } });
    const { first } = page;
    // The first one that failed is at the head of the line again.
    if (first === undefined || failed.has(first.jobId)) break;
    if (page.error === undefined) {
      count += 1;
      continue;
    }
    requireLasting(page.error);
    await database.query(statements.postponeEnding, [first.id]);
    failed.add(first.jobId);
    failures.push({ jobId: first.jobId, batchId: group, error: page.error });
  }
  setAsideOf(database).add(group);
  return count;
}

/** A page that takes too long is settled in smaller pieces; what else passes by itself is left to the next round. */
function requireLasting(error: unknown): void {
  if (isTransientError(error) && !isStatementTimeout(error)) throw error;
}
