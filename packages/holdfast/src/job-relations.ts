import { listParents } from '@holdfast/database';
import type { ParentOutput } from '@holdfast/database';
import type { Batches } from './batches/batches.ts';
import type { Internals } from './internals.ts';

/** The way from a job to those that it has to do with. */
export interface JobRelations<Tx> {
  readonly batches: Batches<Tx>;
  readonly readParents: (jobId: string) => Promise<readonly ParentOutput[]>;
}

/** What the handlers of a worker reach. */
export function jobRelations<Tx>(
  { connection }: Internals,
  batches: Batches<Tx>,
): JobRelations<Tx> {
  return {
    batches,
    readParents: (id) =>
      connection.useWithRetry(({ database, projectId }) =>
        listParents(database, { projectId, id }),
      ),
  };
}
