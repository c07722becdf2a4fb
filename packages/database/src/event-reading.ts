import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** An event of the outbox that was dispatched. */
export interface StoredEvent {
  /** Its place in the order in which events are told; a bigint as text. */
  readonly position: string;
  readonly id: string;
  readonly event: string;
  /** The job that it is about. */
  readonly jobId: string | undefined;
  readonly data: unknown;
  readonly occurredAt: Date;
}

/** A page of the outbox. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** Where the next page begins; nothing was or will be put before it. */
  readonly nextAfter: string;
}

interface Row {
  readonly newest_position: string | null;
  readonly position: string | null;
  readonly id: string;
  readonly event: string;
  readonly job_id: string | null;
  readonly data: unknown;
  readonly occurred_at: Date;
}

/**
 * Reads the events of a project behind a position, in order. Positions become visible in their own order, so a reader who
 * goes on at `nextAfter` misses nothing, whenever it was committed.
 */
export async function listEvents(
  db: Queryable,
  request: {
    readonly projectId: string;
    /** `0` for the oldest that is kept. */
    readonly after: string;
    readonly events?: readonly string[] | undefined;
    readonly limit: number;
  },
): Promise<EventPage> {
  const { projectId, after, limit } = request;
  const names = request.events === undefined ? null : textArray(request.events);
  const rows = await db.query<Row>(statements.listEvents, [projectId, after, names, limit]);
  const events = rows.flatMap(toEvent);
  const isFull = events.length >= limit;
  const newest = isFull ? events.at(-1)?.position : rows[0]?.newest_position;
  return { events, nextAfter: laterOf(after, newest ?? after) };
}

function toEvent(row: Row): readonly StoredEvent[] {
  const { position, id, event, job_id: jobId, data, occurred_at: occurredAt } = row;
  if (position === null) return [];
  return [{ position, id, event, jobId: jobId ?? undefined, data, occurredAt }];
}

function laterOf(left: string, right: string): string {
  return BigInt(left) > BigInt(right) ? left : right;
}

/** The newest position of each project that has one. */
export async function listNewestPositions(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ readonly project_id: string; readonly position: string }>(
    statements.listNewestPositions,
    [plainArray(projectIds)],
  );
  return new Map(rows.map((row) => [row.project_id, row.position]));
}
