import { HoldfastError, isLifeCycleEvent, uuidSeries } from '@holdfast/domain';
import type { LifeCycleEvent } from '@holdfast/domain';
import { plainArray, textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { enqueueJobs } from './enqueue.ts';
import type { NewJob } from './enqueue.ts';
import { findListeners } from './event-subscriptions.ts';
import type { ListenerTemplate } from './event-subscriptions.ts';
import { statements } from './generated/statements.ts';
import { listenerJob } from './listener-job.ts';
import type { Queryable } from './queryable.ts';
import { resolveQueuesFor } from './queue-directory.ts';
import type { QueueEntry } from './queue-directory.ts';

/** An event of the application. */
export interface NewEvent {
  /** A UUID made by the caller; emitting the same id twice makes one event. */
  readonly id: string;
  readonly event: string;
  /** JSON text. */
  readonly dataJson: string;
}

/** What an emit did, and whom to wake after its commit. */
export interface Emitted {
  /** The ids of the events that were written, by this call or an earlier one: those that somebody subscribed to. */
  readonly eventIds: readonly string[];
  /** The jobs that were made for them. Of an earlier call's, as far as nobody has changed a subscription meanwhile. */
  readonly jobIds: readonly string[];
  /** Queues that got jobs which are due now. */
  readonly queueIds: readonly string[];
  /** Whether some of the jobs are for later. */
  readonly scheduled: boolean;
}

const nothing: Emitted = { eventIds: [], jobIds: [], queueIds: [], scheduled: false };

interface EmitRequest {
  readonly projectId: string;
  readonly events: readonly NewEvent[];
  /** Makes the events part of a transaction; whoever commits it wakes workers and dispatchers afterwards. */
  readonly tx?: Queryable | undefined;
  /** Queues that were resolved before the transaction, see `resolveListenerQueues`. */
  readonly queues?: ReadonlyMap<string, QueueEntry> | undefined;
}

/**
 * Emits events of the application: those that somebody subscribed to are written to the outbox, and the jobs of their
 * listeners are enqueued, all in one transaction. The number of statements does not depend on the number of listeners.
 *
 * @throws HoldfastError `event_reserved` for the name of an event that Holdfast announces by itself
 */
export async function emitEvents(database: Database, request: EmitRequest): Promise<Emitted> {
  const { projectId, tx } = request;
  for (const { event } of request.events) refuseReservedEvent(event);
  const names = request.events.map(({ event }) => event);
  const listeners = await findListeners(tx ?? database, { projectId, events: names });
  const events = request.events.filter(({ event }) => listeners.has(event));
  if (events.length === 0) return nothing;
  const queues = await queuesOf(database, { ...request, listeners });
  const write = (on: Queryable) =>
    writeEvents(database, { ...{ projectId, events, listeners, queues }, tx: on });
  return tx === undefined ? database.transaction(write) : write(tx);
}

/** @throws HoldfastError `event_reserved` for the name of an event that Holdfast announces by itself */
export function refuseReservedEvent(event: string): void {
  if (!isLifeCycleEvent(event)) return;
  throw new HoldfastError(`"${event}" is an event that Holdfast announces by itself`, {
    code: 'event_reserved',
  });
}

type Listeners = ReadonlyMap<string, readonly ListenerTemplate[]>;

async function queuesOf(
  database: Database,
  request: EmitRequest & { readonly listeners: Listeners },
): Promise<ReadonlyMap<string, QueueEntry>> {
  const { projectId, queues, listeners, tx } = request;
  const names = new Set([...listeners.values()].flat().map(({ queue }) => queue));
  const missing = [...names].filter((name) => queues?.has(name) !== true);
  return new Map([
    ...(queues ?? []),
    ...(await resolveQueuesFor(tx, { database, projectId, names: missing })),
  ]);
}

async function writeEvents(
  database: Database,
  request: {
    readonly projectId: string;
    readonly tx: Queryable;
    readonly events: readonly NewEvent[];
    readonly listeners: Listeners;
    readonly queues: ReadonlyMap<string, QueueEntry>;
  },
): Promise<Emitted> {
  const { projectId, tx, events, listeners, queues } = request;
  const rows = await tx.query<{ readonly id: string; readonly occurred_at: string }>(
    statements.insertEvents,
    [
      projectId,
      plainArray(events.map(({ id }) => id)),
      textArray(events.map(({ event }) => event)),
      textArray(events.map(({ dataJson }) => dataJson)),
    ],
  );
  const times = new Map(rows.map((row) => [row.id, row.occurred_at]));
  const jobIds: string[] = [];
  const jobs: NewJob[] = [];
  for (const event of events) {
    // The same for each call that emits the event.
    const nextId = uuidSeries(event.id);
    const occurredAt = times.get(event.id);
    for (const template of listeners.get(event.event) ?? []) {
      const id = nextId();
      jobIds.push(id);
      // Unless it was emitted before, with its jobs.
      if (occurredAt !== undefined) jobs.push(listenerJob(template, { ...event, occurredAt }, id));
    }
  }
  const eventIds = events.map(({ id }) => id);
  if (jobs.length === 0) return { ...nothing, eventIds, jobIds };
  const { queueIds, scheduled } = await enqueueJobs(database, { projectId, jobs, tx, queues });
  return { eventIds, jobIds, queueIds, scheduled };
}

/** An event of Holdfast's own. */
export interface Announcement {
  readonly event: LifeCycleEvent;
  /** The job that it is about. */
  readonly jobId?: string | undefined;
  /** Small: no payloads and no results. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Writes events of Holdfast's own to the outbox, as far as somebody subscribed to them, in the transaction `tx` of what
 * happened. Announce nothing about jobs that a subscription made.
 */
export async function announceEvents(
  tx: Queryable,
  request: { readonly projectId: string; readonly events: readonly Announcement[] },
): Promise<void> {
  const { projectId, events } = request;
  if (events.length === 0) return;
  await tx.query(statements.announceEvents, [
    projectId,
    textArray(events.map(({ event }) => event)),
    plainArray(events.map(({ jobId }) => jobId)),
    textArray(events.map(({ data }) => JSON.stringify(data))),
  ]);
}
