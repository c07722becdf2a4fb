import { textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import { readStoredTemplate } from './job-template.ts';
import type { JobTemplate } from './job-template.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueues } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';

/** The job that is made for each event; its payload is the event. */
export type ListenerTemplate = Omit<JobTemplate, 'payload'>;

/** Somebody's wish to hear of an event. */
export interface EventSubscription {
  readonly id: string;
  readonly event: string;
  /** `undefined`: the event is only written to the outbox. */
  readonly job: ListenerTemplate | undefined;
  readonly createdAt: Date;
}

interface Row {
  readonly id: string;
  readonly event: string;
  readonly job: unknown;
  readonly created_at: Date;
}

/**
 * Subscribes to an event: from the commit on it is written to the outbox, and with a template a job is made for each. One
 * job type has one subscription of an event; subscribing again replaces its template. Wake the dispatchers afterwards.
 */
export async function subscribe(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly event: string;
    readonly job?: ListenerTemplate | undefined;
  },
): Promise<EventSubscription> {
  const { projectId, event, job } = request;
  const [row] = await db.query<Row>(statements.subscribeEvent, [
    projectId,
    event,
    job?.type ?? null,
    job === undefined ? null : JSON.stringify(job),
  ]);
  if (row === undefined) throw new Error('The subscription was not stored');
  return toSubscription(row);
}

/** Ends a subscription; answers whether there was one. Jobs that were made for it stay. */
export async function unsubscribe(
  db: Queryable,
  request: { readonly projectId: string; readonly id: string },
): Promise<boolean> {
  const values = [request.projectId, request.id];
  return (await db.query(statements.unsubscribeEvent, values)).length > 0;
}

/** Reads the subscriptions of a project, oldest first, a page after `after`. */
export async function listSubscriptions(
  db: Queryable,
  request: {
    readonly projectId: string;
    /** The id of the last one of the page before. */
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<readonly EventSubscription[]> {
  const { projectId, after, limit } = request;
  const values = [projectId, after ?? null, limit];
  return (await db.query<Row>(statements.listEventSubscriptions, values)).map(toSubscription);
}

/** The templates of each of these events that has a subscription. */
export async function findListeners(
  db: Queryable,
  request: { readonly projectId: string; readonly events: readonly string[] },
): Promise<ReadonlyMap<string, readonly ListenerTemplate[]>> {
  const rows = await db.query<{ readonly event: string; readonly job: string | null }>(
    statements.findEventSubscriptions,
    [request.projectId, textArray([...new Set(request.events)])],
  );
  const listeners = new Map<string, ListenerTemplate[]>();
  for (const { event, job } of rows) {
    const templates = listeners.get(event) ?? [];
    listeners.set(event, templates);
    if (job !== null) templates.push(readStoredTemplate(JSON.parse(job)));
  }
  return listeners;
}

/**
 * The queues that the jobs of these events' listeners go to, for `emitEvents` in a transaction of the same pool: to look
 * them up there would take a second connection.
 */
export async function resolveListenerQueues(
  database: Database,
  request: { readonly projectId: string; readonly events: readonly string[] },
): Promise<ReadonlyMap<string, QueueEntry>> {
  const listeners = await findListeners(database, request);
  const names = [...listeners.values()].flat().map(({ queue }) => queue);
  return resolveQueues(database, request.projectId, [...new Set(names)]);
}

function toSubscription({ id, event, job, created_at: createdAt }: Row): EventSubscription {
  return { id, event, job: job === null ? undefined : readStoredTemplate(job), createdAt };
}
