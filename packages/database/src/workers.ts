import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** What a worker says of itself once. */
export interface WorkerIdentity {
  readonly projectId: string;
  /** A UUID per start of the process. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly build: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Queue names, or `*`. */
  readonly queues: readonly string[];
  /** The types that it takes, one entry for each version of their payloads, see `claimName`. */
  readonly types: readonly string[];
  readonly slots: number;
  readonly leaseMs: number;
}

/** What a worker does: claims; claims no more (quiet); drains. */
export type WorkerMode = 'active' | 'quiet' | 'stopping';

/** What a worker says of itself at each heartbeat. */
export interface WorkerBeat {
  readonly projectId: string;
  readonly id: string;
  readonly status: WorkerMode;
  readonly busySlots: number;
  readonly stuckSlots: number;
  readonly rssBytes: number;
  readonly loopLagMs: number;
}

/** Makes the worker known. */
export async function registerWorker(db: Queryable, worker: WorkerIdentity): Promise<void> {
  await db.query(statements.registerWorker, [
    worker.projectId,
    worker.id,
    worker.host,
    worker.pid,
    worker.build,
    JSON.stringify(worker.labels),
    worker.queues,
    worker.types,
    worker.slots,
    worker.leaseMs,
  ]);
}

/**
 * Tells that the worker lives.
 *
 * @returns what a person asked of it; `known: false` when its row is gone and it must register again.
 */
export async function beatWorker(
  db: Queryable,
  beat: WorkerBeat,
): Promise<{ readonly known: boolean; readonly requested: WorkerMode | undefined }> {
  const [row] = await db.query<{ readonly requested_status: WorkerMode | null }>(
    statements.beatWorker,
    [
      beat.projectId,
      beat.id,
      beat.status,
      beat.busySlots,
      beat.stuckSlots,
      beat.rssBytes,
      beat.loopLagMs,
    ],
  );
  return { known: row !== undefined, requested: row?.requested_status ?? undefined };
}

/** Asks a live worker to change what it does; answers whether there is such a worker. */
export async function requestWorkerStatus(
  db: Queryable,
  request: { readonly projectId: string; readonly id: string; readonly status: WorkerMode },
): Promise<boolean> {
  const rows = await db.query(statements.requestWorkerStatus, [
    request.projectId,
    request.id,
    request.status,
  ]);
  return rows.length > 0;
}

/** Notes a clean stop. */
export async function markWorkerStopped(
  db: Queryable,
  worker: { readonly projectId: string; readonly id: string },
): Promise<void> {
  await db.query(statements.markWorkerStopped, [worker.projectId, worker.id]);
}

/** A worker process with the jobs that it holds. */
export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly build: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Names, or `*`. */
  readonly queues: readonly string[];
  readonly types: readonly string[];
  readonly slots: number;
  readonly status: WorkerMode;
  readonly requested_status: WorkerMode | null;
  /** A bigint as text. */
  readonly rss_bytes: string;
  readonly loop_lag_ms: number;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  readonly lost: boolean;
  readonly running: readonly string[];
}

/** The workers that run, and those that fell silent within the last hour. */
export async function listWorkers(db: Queryable, projectId: string): Promise<readonly WorkerRow[]> {
  return db.query<WorkerRow>(statements.listWorkers, [projectId, null]);
}

/** One worker. */
export async function readWorker(
  db: Queryable,
  worker: { readonly projectId: string; readonly id: string },
): Promise<WorkerRow | undefined> {
  const [row] = await db.query<WorkerRow>(statements.listWorkers, [worker.projectId, worker.id]);
  return row;
}
