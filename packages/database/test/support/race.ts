import { claimJobs, openLane, statements } from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { openHandConnection, waitUntilBlocked } from './hand-connection.ts';
import type {
  ClaimedJob,
  Database,
  Lane,
  Queryable,
  SqlValue,
  Statement,
} from '@holdfast/database';
import type { JobFactory, MadeJob } from '@holdfast/testing';
import type { HandConnection } from './hand-connection.ts';

/** A database with two sessions whose transactions a test holds open by hand. */
export interface Race {
  readonly url: string;
  readonly database: Database;
  readonly factory: JobFactory;
  readonly first: HandConnection;
  readonly second: HandConnection;
  /** Runs `work` in a transaction of the first session and leaves it open. */
  hold<Result>(work: (first: Queryable) => Promise<Result>): Promise<Result>;
  /** Commits what {@link hold} left open. */
  commit(): Promise<void>;
  /** Starts `work` on the second session, and resolves when it waits for a lock of the first. */
  startBlocked<Result>(work: (second: Queryable) => Promise<Result>): Promise<Started<Result>>;
  close(): Promise<void>;
}

/** A call that is under way. */
export interface Started<Result> {
  readonly result: Promise<Result>;
}

/** Makes a database of the test's own with both sessions. */
export async function createRace(): Promise<Race> {
  const test = await createTestDatabase();
  const factory = await createJobFactory(test.database);
  const first = await openHandConnection(test.url, { kind: 'lane' });
  const second = await openHandConnection(test.url, { kind: 'lane' });
  return {
    url: test.url,
    database: test.database,
    factory,
    first,
    second,
    async hold(work) {
      await first.run('begin');
      return work(first);
    },
    commit: () => first.run('commit'),
    async startBlocked(work) {
      const result = work(second);
      // Awaited later; a failure must not count as unhandled until then.
      result.catch(() => undefined);
      await waitUntilBlocked(test.database, second);
      return { result };
    },
    async close() {
      await Promise.all([first.close(), second.close()]);
      await test.drop();
    },
  };
}

/** Runs a statement for the ids that it answers. */
export async function idsOf(
  db: Queryable,
  statement: Statement,
  values: readonly SqlValue[],
): Promise<readonly string[]> {
  const rows = await db.query<{ readonly id: string }>(statement, values);
  return rows.map(({ id }) => id);
}

/** Takes every expired lease for the first time, as the reaper does. */
export function reap(db: Queryable): Promise<readonly string[]> {
  return idsOf(db, statements.reapJobs, [0, 1_000]);
}

/** Lets a session by hand take the place of a lane. */
export function asLane(connection: HandConnection): Lane {
  const rowsAsArrays = async <Row extends readonly unknown[]>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<readonly Row[]> => {
    const rows = await connection.query(statement, values);
    // Columns come in the statement's order, which is what the row type says.
    return rows.map((row): unknown[] => Object.values(row)) as unknown as readonly Row[];
  };
  return {
    query: connection.query.bind(connection),
    queryArrays: rowsAsArrays,
    async transactionArrays(steps) {
      let rows: readonly never[] = [];
      for (const { statement, values } of steps) rows = await rowsAsArrays(statement, values);
      return rows;
    },
    close: () => connection.close(),
  };
}

/** A claim of at most `limit` jobs of the queue by a new worker. */
export function claimFrom(
  lane: Lane,
  job: Pick<MadeJob, 'projectId' | 'queueId' | 'type'>,
  limit = 10,
): Promise<readonly ClaimedJob[]> {
  const lanes = [{ queueId: job.queueId, priority: 5, afterSeq: '0' }];
  return claimJobs(lane, { ...claimRequest(job, limit), lanes });
}

/** What every claim says. */
export function claimRequest(
  { projectId, type }: Pick<MadeJob, 'projectId' | 'type'>,
  limit: number,
) {
  return {
    projectId,
    workerId: randomUUID(),
    leaseToken: randomUUID(),
    leaseMs: 60_000,
    types: [type],
    limit,
    suspectLimit: 1,
  };
}

/** A lane on the race's database; the caller closes it. */
export function laneOf(race: Pick<Race, 'url'>): Lane {
  return openLane({ connectionString: race.url }, 'claims');
}
