import { jobDefaults } from '@holdfast/domain';
import type { CompleteUniqueSettings, JobStatus, UniqueConflict } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** A job that asks for a unique key. */
export interface KeyRequest {
  readonly job: Omit<NewJob, 'unique'>;
  readonly digest: string;
  readonly settings: CompleteUniqueSettings;
}

/**
 * What becomes of a job that asked for a key: `insert` it, the key is taken; `existing`, it was inserted before;
 * `queued_behind`, insert it with one more parent; in all other cases another job stands for it.
 */
export type KeyVerdict = 'insert' | 'existing' | UniqueConflict | 'rejected';

/** The answer to a {@link KeyRequest}. */
export interface KeyAnswer {
  readonly verdict: KeyVerdict;
  /** The job itself, or the one that stands for it. */
  readonly id: string;
  /** Of that job; `undefined` when nothing is left of it. */
  readonly status: JobStatus | undefined;
  /** The job that holds the key, where it is another one. */
  readonly holderId: string | undefined;
}

interface AnswerRow {
  readonly request_no: number;
  readonly verdict: KeyVerdict;
  readonly job_id: string;
  readonly job_status: JobStatus | null;
  readonly holder_id: string | null;
}

/**
 * Takes unique keys, or tells who holds them. The jobs must be inserted in the same transaction. When one answer is
 * `rejected`, nothing was changed for any of the requests.
 *
 * @param tx a transaction under read committed
 * @param work.requests each with another digest
 * @returns answers in the order of the requests
 */
export async function acquireUniqueKeys(
  tx: Queryable,
  work: { readonly projectId: string; readonly requests: readonly KeyRequest[] },
): Promise<readonly KeyAnswer[]> {
  const { projectId, requests } = work;
  const rows = await tx.query<AnswerRow>(statements.acquireUniqueKeys, [
    projectId,
    JSON.stringify(requests.map(toRow)),
  ]);
  const answers = new Map(rows.map((row) => [row.request_no, row]));
  return requests.map((_, index) => {
    const row = answers.get(index);
    if (row === undefined) throw new Error('A unique key was asked for and not answered');
    return {
      verdict: row.verdict,
      id: row.job_id,
      status: row.job_status ?? undefined,
      holderId: row.holder_id ?? undefined,
    };
  });
}

function toRow({ job, digest, settings }: KeyRequest, index: number) {
  const { key, scope, until, ttlMs, onConflict } = settings;
  const { type, queue } = job;
  const asked = { digest, scope, key, until, ttlMs, onConflict };
  const row = { no: index, jobId: job.id, type, queue, ...asked };
  if (onConflict === 'keep' || onConflict === 'reject') return row;
  return {
    ...row,
    payload: job.payloadJson,
    payloadVersion: job.payloadVersion,
    priority: job.priority ?? jobDefaults.priority,
    tags: job.tags === undefined || job.tags.length === 0 ? undefined : job.tags,
    metadata: job.metadataJson,
    delayMs: job.delayMs,
    runAt: job.runAt,
    waitMs: settings.waitMs,
    maxWaitMs: settings.maxWaitMs,
  };
}

/**
 * Takes the keys of dead or cancelled jobs that are about to live again, in the same transaction and before their rows
 * are changed.
 *
 * @returns the jobs that must stay as they are, each with the job that holds its key
 */
export async function reacquireUniqueKeys(
  tx: Queryable,
  request: { readonly projectId: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<{ readonly job_id: string; readonly holder_id: string }>(
    statements.reacquireUniqueKeys,
    [request.projectId, plainArray(request.ids)],
  );
  return new Map(rows.map((row) => [row.job_id, row.holder_id]));
}
