import { dispatchEvents, dispatchLimit, isTransientError } from '@holdfast/database';
import type { Database, Dispatched } from '@holdfast/database';

/** What became of a page of events. */
export interface DispatchedPage extends Dispatched {
  /** Why the jobs of some events' listeners could not be made. */
  readonly failures: readonly unknown[];
}

/**
 * Dispatches a page of events. When the jobs of one of them are refused, for example because of a template that was
 * written by hand, it goes on event by event, and numbers that one without its jobs: the others must not wait for it.
 */
export async function dispatchPage(database: Database): Promise<DispatchedPage> {
  try {
    return { ...(await dispatchEvents(database)), failures: [] };
  } catch (error) {
    if (isTransientError(error)) throw error;
    return dispatchSingly(database);
  }
}

async function dispatchSingly(database: Database): Promise<DispatchedPage> {
  const queueIds = new Set<string>();
  const failures: unknown[] = [];
  const total = { eventCount: 0, jobCount: 0, scheduled: false };
  for (let index = 0; index < dispatchLimit; index += 1) {
    const one = await dispatchOne(database, failures);
    total.eventCount += one.eventCount;
    total.jobCount += one.jobCount;
    total.scheduled ||= one.scheduled;
    one.queueIds.forEach((queueId) => queueIds.add(queueId));
    if (one.eventCount === 0) break;
  }
  return { ...total, queueIds: [...queueIds], isContended: false, failures };
}

async function dispatchOne(database: Database, failures: unknown[]): Promise<Dispatched> {
  try {
    return await dispatchEvents(database, { limit: 1 });
  } catch (error) {
    if (isTransientError(error)) throw error;
    failures.push(error);
    return dispatchEvents(database, { limit: 1, hasListeners: false });
  }
}
