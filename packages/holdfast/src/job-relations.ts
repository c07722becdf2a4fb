import { listParents } from '@holdfast/database';
import type { ParentOutput } from '@holdfast/database';
import type { BatchAccess } from './batches/job-batch.ts';
import type { Internals } from './internals.ts';

/** The way from a job to those that it has to do with. */
export interface JobRelations<Tx> {
  readonly batches: BatchAccess<Tx>;
  readonly readParents: (jobId: string) => Promise<readonly ParentOutput[]>;
}

/** What the handlers of a worker reach. */
export function jobRelations<Tx>(
  { connection }: Internals,
  batches: BatchAccess<Tx>,
): JobRelations<Tx> {
  return {
    batches,
    readParents: (id) =>
      connection.useWithRetry(({ database, projectId }) =>
        listParents(database, { projectId, id }),
      ),
  };
}
