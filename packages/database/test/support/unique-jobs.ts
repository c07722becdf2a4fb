import { enqueueUniqueJobs, foreignQueryable } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type {
  ForeignConnection,
  JobOutcome,
  Queryable,
  UniqueJob,
  UniquelyEnqueued,
} from '@holdfast/database';
import type { UniqueSettings } from '@holdfast/domain';
import type { Race } from './race.ts';

/** A job with a key, in a queue of its own unless the test says otherwise. */
export function uniqueJob(
  unique: UniqueSettings | undefined,
  more: Partial<UniqueJob> = {},
): UniqueJob {
  return {
    id: uuidV7(Date.now()),
    queue: 'unique',
    type: 'test.job',
    payloadJson: '{}',
    unique,
    ...more,
  };
}

type Where = Pick<Race, 'database' | 'factory'>;

/** Enqueues the jobs in a transaction of their own, or in the given one. */
export function enqueueAll(
  { database, factory }: Where,
  jobs: readonly UniqueJob[],
  options: { readonly tx?: Queryable; readonly mayRepeat?: boolean } = {},
): Promise<UniquelyEnqueued> {
  return enqueueUniqueJobs(database, { projectId: factory.projectId, jobs, ...options });
}

/** Enqueues one job and answers what became of it. */
export async function enqueueOne(
  where: Where,
  job: UniqueJob,
  options: { readonly tx?: Queryable; readonly mayRepeat?: boolean } = {},
): Promise<JobOutcome> {
  const { outcomes } = await enqueueAll(where, [job], options);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('One job has one outcome');
  return outcome;
}

/** Statements as they travel through somebody else's connection. */
export function asForeign(connection: Queryable): Queryable {
  const foreign: ForeignConnection = {
    query: (text, values) => connection.query<Record<string, unknown>>({ name: '', text }, values),
  };
  return foreignQueryable(foreign, 'holdfast');
}
