import { HoldfastError } from '@holdfast/domain';
import { plainArray } from './array-literal.ts';
import type { NewBatch } from './batches.ts';
import { statements } from './generated/statements.ts';
import type { Making } from './making.ts';

/** Ids that a batch, or an addition to one, brings with it. */
export interface BroughtIds {
  readonly jobs: readonly string[];
  readonly batches: readonly string[];
}

/** The ids of everything in a batch, but its own: jobs, callbacks, and the same of the batches in it. */
export function idsWithin({ jobs, callbacks = [], batches = [] }: NewBatch): BroughtIds {
  const own: BroughtIds = {
    jobs: [...jobs.map(({ id }) => id), ...callbacks.map(({ jobId }) => jobId)],
    batches: batches.map(({ id }) => id),
  };
  return joined([own, ...batches.map(idsWithin)]);
}

/** The same with its own id. */
export function idsOf(batch: NewBatch): BroughtIds {
  return joined([{ jobs: [], batches: [batch.id] }, idsWithin(batch)]);
}

/** The ids of all parts together. */
export function joined(parts: readonly BroughtIds[]): BroughtIds {
  return {
    jobs: parts.flatMap(({ jobs }) => jobs),
    batches: parts.flatMap(({ batches }) => batches),
  };
}

/**
 * Looks for others with the same ids before anything is written.
 *
 * @throws HoldfastError `batch_member_exists`
 */
export async function refuseTaken(
  { tx, projectId, mayRepeat }: Making,
  { jobs, batches }: BroughtIds,
): Promise<void> {
  if (jobs.length === 0 && batches.length === 0) return;
  const [row] = await tx.query<{
    readonly job_id: string | null;
    readonly batch_id: string | null;
  }>(statements.findTakenIds, [projectId, plainArray(jobs), plainArray(batches), mayRepeat]);
  if (typeof row?.batch_id === 'string') throw batchExists(row.batch_id);
  if (typeof row?.job_id === 'string') throw memberExists(`The job ${row.job_id}`);
}

/** For an id that something else has. */
export function memberExists(what: string): HoldfastError {
  return new HoldfastError(`${what} exists already, so it cannot be made as a member of a batch`, {
    code: 'batch_member_exists',
  });
}

/** For the id of a batch that is not the one to be made. */
export function batchExists(id: string): HoldfastError {
  const message = `The batch ${id} exists already, elsewhere or with other members`;
  return new HoldfastError(message, { code: 'batch_member_exists' });
}
