import type { StoredJobRow } from '@holdfast/database/time-travel';
import type { JobStatus } from '@holdfast/domain';

/** A job that was enqueued, as tests look at it. */
export interface EnqueuedJob<Payload = unknown> {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** As it is now; in a fake, as it was when it was enqueued. */
  readonly status: JobStatus;
  /** As it is stored: what a date was is text. */
  readonly payload: Payload;
  /** Which version of its shape the payload has. */
  readonly payloadVersion: number;
  /** 0 (first) to 9 (last). */
  readonly priority: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** When it is due; `undefined` while it waits for other jobs. */
  readonly runAt: Date | undefined;
  /** From its creation to `runAt`, in milliseconds; 0 when it was due at once. */
  readonly delayMs: number | undefined;
  readonly uniqueKey: string | undefined;
  /** The batch, chain or graph that it is a part of. */
  readonly batchId: string | undefined;
}

/** A row as a job. */
export function toEnqueuedJob(row: StoredJobRow): EnqueuedJob {
  return {
    ...{ id: row.id, type: row.type, queue: row.queue, status: row.status },
    ...{ payload: row.payload, priority: row.priority, tags: row.tags ?? [] },
    metadata: row.metadata ?? {},
    payloadVersion: row.payload_version,
    runAt: row.run_at ?? undefined,
    delayMs: row.delay_ms ?? undefined,
    uniqueKey: row.unique_key ?? undefined,
    batchId: row.batch_id ?? undefined,
  };
}
