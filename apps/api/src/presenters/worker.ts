import type { Worker } from '@holdfast/contract';
import type { WorkerRow } from '@holdfast/database';
import { presentInstant } from './instant.ts';

/** A worker as answered. A request that it has not obeyed yet shows already. */
export function presentWorker(row: WorkerRow): Worker {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    build: row.build,
    labels: row.labels,
    queues: row.queues,
    types: row.types,
    startedAt: presentInstant(row.started_at),
    heartbeatAt: presentInstant(row.heartbeat_at),
    status: row.lost ? 'lost' : (row.requested_status ?? row.status),
    slots: row.slots,
    running: row.running,
    rssBytes: Number(row.rss_bytes),
    loopLagMs: row.loop_lag_ms,
  };
}
