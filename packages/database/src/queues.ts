import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';
import { forgetQueue } from './queue-directory.ts';
import type { QueueJobDefaults } from './queue-directory.ts';

/** Which queue. */
export interface QueueKey {
  readonly projectId: string;
  readonly name: string;
}

/** The settings of a queue; absent ones are left as they are in an update. */
export interface QueueSettings {
  /** How many jobs of the queue may be held at once in the whole cluster; `null` for no limit. */
  readonly concurrency?: number | null | undefined;
  readonly jobDefaults?: QueueJobDefaults | undefined;
}

/** Makes a queue; `undefined` when one of this name exists. */
export async function createQueue(
  database: Database,
  request: QueueKey & { readonly settings: QueueSettings; readonly tx?: Queryable | undefined },
): Promise<string | undefined> {
  const { projectId, name, settings, tx = database } = request;
  const [row] = await tx.query<{ readonly id: string }>(statements.createQueue, [
    projectId,
    name,
    settings.concurrency ?? null,
    settings.jobDefaults === undefined ? null : JSON.stringify(settings.jobDefaults),
  ]);
  forgetQueue(database, projectId, name);
  return row?.id;
}

/**
 * Changes settings of a queue.
 *
 * @param request.expectedRevision changes nothing when the queue is at another revision.
 * @returns the new revision, or `undefined` when there is no such queue at that revision.
 */
export async function updateQueue(
  database: Database,
  request: QueueKey & {
    readonly settings: QueueSettings;
    readonly expectedRevision?: string | undefined;
  },
): Promise<string | undefined> {
  const { projectId, name, settings } = request;
  const [row] = await database.query<{ readonly revision: string }>(statements.updateQueue, [
    projectId,
    name,
    settings.concurrency !== undefined,
    settings.concurrency ?? null,
    settings.jobDefaults !== undefined,
    settings.jobDefaults === undefined ? null : JSON.stringify(settings.jobDefaults),
    request.expectedRevision ?? null,
  ]);
  forgetQueue(database, projectId, name);
  return row?.revision;
}

/** Pauses a queue: from the commit on nothing of it is claimed; running jobs finish. Answers the queue's id. */
export async function pauseQueue(
  db: Queryable,
  request: QueueKey & {
    readonly by: string;
    readonly reason: string | undefined;
    readonly until: Date | undefined;
  },
): Promise<string | undefined> {
  const [row] = await db.query<{ readonly id: string }>(statements.pauseQueue, [
    request.projectId,
    request.name,
    request.by,
    request.reason ?? null,
    request.until ?? null,
  ]);
  return row?.id;
}

/** Ends a pause; answers the queue's id, whose workers should be woken. */
export async function resumeQueue(db: Queryable, key: QueueKey): Promise<string | undefined> {
  const [row] = await db.query<{ readonly id: string }>(statements.resumeQueue, [
    key.projectId,
    key.name,
  ]);
  return row?.id;
}

/** Deletes a queue that holds no job; answers whether it did. */
export async function deleteQueue(database: Database, key: QueueKey): Promise<boolean> {
  const rows = await database.query(statements.deleteQueue, [key.projectId, key.name]);
  forgetQueue(database, key.projectId, key.name);
  return rows.length > 0;
}
