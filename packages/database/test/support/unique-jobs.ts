import { enqueueUniqueJobs, finishJobs, foreignQueryable, startJobs } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { takeSnapshot } from './job-snapshot.ts';
import { claimFrom, laneOf } from './race.ts';
import type {
  ForeignConnection,
  JobOutcome,
  Lease,
  Queryable,
  UniqueJob,
  UniquelyEnqueued,
} from '@holdfast/database';
import type { Decision, UniqueSettings } from '@holdfast/domain';
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

/** Makes every key free and every queue empty. */
export async function forgetJobs({ database }: Where): Promise<void> {
  await database.execute(
    `delete from holdfast.jobs; delete from holdfast.unique_locks; delete from holdfast.job_dependencies;
     delete from holdfast.job_endings; delete from holdfast.event_subscriptions; delete from holdfast.events`,
  );
}

/** Statements as they travel through somebody else's connection. */
export function asForeign(connection: Queryable): Queryable {
  const foreign: ForeignConnection = {
    query: (text, values) => connection.query<Record<string, unknown>>({ name: '', text }, values),
  };
  return foreignQueryable(foreign, 'holdfast');
}

/** How an attempt of a test ends. */
export const endings = {
  complete: { transition: 'complete_jobs', executionStatus: 'completed' },
  retry: { transition: 'retry_jobs', executionStatus: 'failed', delayMs: 3_600_000 },
  fail: { transition: 'fail_jobs', executionStatus: 'failed' },
  deadLetter: { transition: 'dead_letter_jobs', executionStatus: 'failed' },
  release: { transition: 'release_jobs', executionStatus: 'released', delayMs: 3_600_000 },
  drain: { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
} as const satisfies Record<string, Decision>;

/** A started execution. */
export interface Held extends Lease {
  readonly executionSeq: number;
}

/** A worker whose every move the test makes. */
export interface ByHand {
  /** Claims and starts the job, which must be the first that is due in its queue. */
  start(id: string): Promise<Held>;
  finish(held: Held, decision: Decision): Promise<void>;
  /** Both, one after the other. */
  run(id: string, decision: Decision): Promise<void>;
}

/** Makes a worker. */
export function byHand(race: Race): ByHand {
  const { projectId } = race.factory;
  const start = async (id: string): Promise<Held> => {
    const [row] = (await takeSnapshot(race.database, { projectId, id })).jobs;
    const place = { queueId: String(row?.['queue_id']), type: String(row?.['type']) };
    const lane = laneOf(race);
    const [claimed] = await claimFrom(lane, { projectId, ...place }, 1).finally(() => lane.close());
    if (claimed?.id !== id) throw new Error(`Claimed ${String(claimed?.id)} in place of ${id}`);
    const lease = { id, token: claimed.leaseToken };
    await startJobs(race.database, { projectId, started: [{ ...lease, startedAgoMs: 0 }] });
    return { ...lease, executionSeq: claimed.executionSeq };
  };
  const finish = async (held: Held, decision: Decision): Promise<void> => {
    const error = { code: 'handler_failed', message: 'No', fingerprint: 'test' };
    const job = { ...held, startedAgoMs: 0, finishedAgoMs: 0, decision: { error, ...decision } };
    const { transition } = decision;
    const ids = await finishJobs(race.database, { projectId, transition, jobs: [job] });
    if (!ids.has(held.id)) throw new Error(`${transition} did not find ${held.id}`);
  };
  return {
    start,
    finish,
    async run(id, decision) {
      await finish(await start(id), decision);
    },
  };
}
