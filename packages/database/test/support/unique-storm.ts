import {
  cancelJob,
  claimJobs,
  enqueueUniqueJobs,
  findProject,
  finishJobs,
  openDatabase,
  promoteJobs,
  reapExpiredLeases,
  replayJob,
  resolveQueues,
  retryJob,
  settleEndings,
  startJobs,
} from '@holdfast/database';
import { UniqueKeyHeldError, uniqueScopes, uuidV7 } from '@holdfast/domain';
import { waitFor } from '@holdfast/testing';
import { randomInt, randomUUID } from 'node:crypto';
import { openHandConnection } from './hand-connection.ts';
import type { ClaimedJob, Database, JobOutcome, Statement, UniqueJob } from '@holdfast/database';
import type { Decision, UniqueSettings } from '@holdfast/domain';

/** Where it blows: opened once, since sixty sessions are slow to warm up. */
export interface StormPlace {
  readonly url: string;
  readonly callers: Database;
  readonly people: Database;
  close(): Promise<void>;
}

/** Opens a place with as many sessions as there will be callers. */
export function openStormPlace(url: string, callerCount: number): StormPlace {
  const callers = openDatabase({ connectionString: url, poolSize: callerCount });
  const people = openDatabase({ connectionString: url, poolSize: 8 });
  return {
    ...{ url, callers, people },
    async close() {
      await Promise.all([callers.close(), people.close()]);
    },
  };
}

/** How hard it blows. */
export interface StormOptions {
  readonly place: StormPlace;
  /** What every caller says of its key, besides key and scope. */
  readonly settings: Omit<UniqueSettings, 'key' | 'scope'>;
  readonly callerCount: number;
  readonly callsPerCaller: number;
  readonly keyCount: number;
}

/** What was seen of it. */
export interface StormReport {
  /** What broke the rule at some committed snapshot. */
  readonly violations: readonly unknown[];
  readonly snapshotCount: number;
  readonly outcomes: readonly JobOutcome[];
  /** Errors of any part that are not answers. */
  readonly errors: readonly unknown[];
  readonly ends: Readonly<Record<string, number>>;
  /** Of one more call for each key, when all jobs had ended. */
  readonly outcomesAfter: readonly JobOutcome[];
}

const queues = ['storm-a', 'storm-b'];
const types = ['storm.a', 'storm.b'];
const error = { code: 'handler_failed', message: 'No', fingerprint: 'test' };

// Weighted by how often they stand here.
const decisions: readonly Decision[] = [
  { transition: 'complete_jobs', executionStatus: 'completed' },
  { transition: 'complete_jobs', executionStatus: 'completed' },
  { transition: 'complete_jobs', executionStatus: 'completed' },
  { transition: 'retry_jobs', executionStatus: 'failed', delayMs: 0, error },
  { transition: 'dead_letter_jobs', executionStatus: 'failed', reason: 'non_retryable', error },
  { transition: 'fail_jobs', executionStatus: 'failed', reason: 'manual_retry', error },
  { transition: 'release_jobs', executionStatus: 'released', delayMs: 0 },
  { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
];

const pick = <Item>(list: readonly Item[]): Item => {
  const item = list[randomInt(list.length)];
  if (item === undefined) throw new Error('The list is empty');
  return item;
};

/** Lets many callers ask for few keys, while the jobs live and die in every way, and looks on. */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const storm = await createStorm(options);
  const callers = Array.from({ length: options.callerCount }, () => storm.call());
  const others = [
    ...Array.from({ length: 8 }, () => storm.work()),
    ...[storm.interfere(), storm.keepGoing(), storm.watch(), storm.watch()],
  ];
  await Promise.all(callers);
  storm.end();
  await Promise.all(others);
  await waitFor('every job of the storm has ended', storm.endAll, { timeoutMs: 30_000 });
  return { ...storm.report, outcomesAfter: await storm.callForEach() };
}

async function createStorm(options: StormOptions) {
  const { place, settings, callsPerCaller, keyCount } = options;
  const { callers: database, people } = place;
  const projectId = (await findProject(database, 'default'))?.id ?? '';
  const queueIds = [...(await resolveQueues(database, projectId, queues)).values()];
  const report = {
    violations: new Array<unknown>(),
    errors: new Array<unknown>(),
    outcomes: new Array<JobOutcome>(),
    ends: {} as Record<string, number>,
    snapshotCount: 0,
  };
  let isOver = false;

  const count = (what: string): void => {
    report.ends[what] = (report.ends[what] ?? 0) + 1;
  };
  /** Again and again until the callers are done. */
  const repeat = async (round: () => Promise<void>): Promise<void> => {
    while (!isOver) await round().catch((reason: unknown) => report.errors.push(reason));
  };
  const newJob = (number = randomInt(keyCount)): UniqueJob => {
    const scope = uniqueScopes[number % uniqueScopes.length];
    return {
      ...{ id: uuidV7(Date.now()), queue: pick(queues), type: pick(types), payloadJson: '{}' },
      unique: { ...settings, key: `key-${String(number)}`, scope },
    };
  };

  return {
    report,
    end(): void {
      isOver = true;
    },
    async call(): Promise<void> {
      for (let index = 0; index < callsPerCaller; index += 1) {
        // Every few calls are bulk ones, whose keys come in any order.
        const jobs = Array.from({ length: index % 5 === 0 ? 8 : 1 }, () => newJob());
        const isSame = new Set(jobs.map(({ type }) => type)).size === 1;
        const call = isSame ? jobs : jobs.slice(0, 1);
        try {
          const { outcomes } = await enqueueUniqueJobs(database, { projectId, jobs: call });
          report.outcomes.push(...outcomes);
        } catch (reason) {
          if (reason instanceof UniqueKeyHeldError) count('rejected');
          else report.errors.push(reason);
        }
      }
    },

    async work(): Promise<void> {
      const lane = database.openLane('claims');
      await repeat(async () => {
        const isDoomed = randomInt(10) === 0;
        const jobs = await claimJobs(lane, {
          ...{ projectId, types, limit: 1 + randomInt(8), suspectLimit: 1 },
          ...{ workerId: randomUUID(), leaseToken: randomUUID(), leaseMs: isDoomed ? 0 : 60_000 },
          lanes: queueIds.map(({ id }) => ({ queueId: id, priority: 5, afterSeq: '0' })),
        });
        const leases = jobs.map((job) => ({ id: job.id, token: job.leaseToken, startedAgoMs: 0 }));
        await startJobs(people, { projectId, started: leases });
        if (isDoomed) await reapExpiredLeases(people, { leaseMs: 0, crashBackoffMs: 0 });
        else for (const job of jobs) await endJob(people, projectId, { job, count });
      });
      await lane.close();
    },

    /** What people do: cancel, retry, replay. */
    async interfere(): Promise<void> {
      await repeat(async () => {
        const rows = await people.query<{ id: string; status: string }>(someJobs, [projectId]);
        for (const { id, status } of rows) {
          const key = { projectId, id };
          if (status === 'failed') count(`retry ${String((await retryJob(people, key)).done)}`);
          else if (status === 'dead_letter') {
            const result = await replayJob(people, key);
            count(`replay ${result.done ? 'done' : result.reason}`);
          } else {
            await cancelJob(people, { ...key, reason: 'x' });
            count('cancel');
          }
        }
      });
    },

    /** What the scheduler does. */
    async keepGoing(): Promise<void> {
      await repeat(async () => {
        await promoteJobs(people);
        await settleEndings(people);
      });
    },

    /** One round of ending everything; answers whether all has ended. */
    async endAll(): Promise<boolean> {
      await promoteJobs(people);
      await settleEndings(people);
      await people.execute(
        `update holdfast.jobs set lock_expires_at = now() where status in ('claimed', 'running')`,
      );
      await reapExpiredLeases(people, { leaseMs: 0, crashBackoffMs: 0, poisonCount: 1_000 });
      const rows = await people.query<{ id: string }>(liveJobs, [projectId]);
      for (const { id } of rows) await cancelJob(people, { projectId, id, reason: 'the end' });
      return rows.length === 0;
    },

    /** Asks once for each key. */
    async callForEach(): Promise<readonly JobOutcome[]> {
      const outcomes: JobOutcome[] = [];
      for (let number = 0; number < keyCount; number += 1) {
        const job = newJob(number);
        outcomes.push(...(await enqueueUniqueJobs(people, { projectId, jobs: [job] })).outcomes);
      }
      return outcomes;
    },

    /** Looks at one committed snapshot after the other. */
    async watch(): Promise<void> {
      const connection = await openHandConnection(place.url);
      await repeat(async () => {
        await connection.run('begin isolation level repeatable read read only');
        report.violations.push(...(await connection.query(brokenKeys, [])));
        await connection.run('commit');
        report.snapshotCount += 1;
      });
      await connection.close();
    },
  };
}

async function endJob(
  database: Database,
  projectId: string,
  { job, count }: { readonly job: ClaimedJob; readonly count: (what: string) => void },
): Promise<void> {
  const decision = pick(decisions);
  const { transition } = decision;
  const ended = { startedAgoMs: 0, finishedAgoMs: 0, decision };
  const { id, leaseToken: token, executionSeq } = job;
  const jobs = [{ id, token, executionSeq, ...ended }];
  const ids = await finishJobs(database, { projectId, transition, jobs });
  count(ids.has(id) ? transition : 'lost');
}

const someJobs: Statement = {
  name: 'test_storm_some',
  text: `(select id, status::text from holdfast.jobs where project_id = $1 and status = 'dead_letter'
      order by random() limit 3)
    union all (select id, status::text from holdfast.jobs where project_id = $1 and status = 'failed'
      order by random() limit 3)
    union all (select id, status::text from holdfast.jobs where project_id = $1
      and status in ('queued', 'scheduled') order by random() limit 1)`,
};

const liveJobs: Statement = {
  name: 'test_storm_live',
  text: `select id from holdfast.jobs where project_id = $1 and status <> 'dead_letter'`,
};

/**
 * Keys that more jobs hold than may, from the jobs alone. A job until `start` holds its key while no execution of its
 * generation is known, unless a person retried it, which takes no key; of queue_latest, which is known by the follower's parents, one has started and one waits.
 */
export const brokenKeys: Statement = {
  name: 'test_broken_keys',
  text: `with live as (
      select
        unique_lock ->> 'digest' as digest, unique_lock ->> 'until' as until, id, status,
        exists (
          select from holdfast.job_dependencies as d
          where d.project_id = j.project_id and d.child_id = j.id and d.state = 'waiting'
        ) as follows,
        status in ('queued', 'scheduled') and not exists (
          select from holdfast.job_executions as e
          where e.project_id = j.project_id and e.job_id = j.id
            and (e.generation = j.generation or (e.generation = j.generation - 1 and e.reason = 'manual_retry'))
        ) as is_new
      from holdfast.all_jobs as j
      where status in ('queued', 'scheduled', 'claimed', 'running', 'failed') or unique_lock ->> 'until' = 'ttl'
    )
    select digest, until, array_agg(id || ' ' || status) as jobs
    from live
    group by digest, until
    having case until
      when 'start' then count(*) filter (where is_new) > 1
      when 'ttl' then count(*) > 1
      else count(*) filter (where not follows) > 1 or count(*) filter (where follows) > 1
    end`,
};
