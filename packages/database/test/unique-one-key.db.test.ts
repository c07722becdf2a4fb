import {
  enqueueUniqueJobs,
  finishJobs,
  promoteJobs,
  resolveQueues,
  settleEndings,
  startJobs,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { asLane, claimFrom } from './support/race.ts';
import { settleAll } from './support/run-jobs.ts';
import { seededRandom } from './support/seeded-random.ts';
import { endings, uniqueJob } from './support/unique-jobs.ts';
import type { ClaimedJob, Queryable, Statement } from '@holdfast/database';
import type { Decision, UniqueConflictMode } from '@holdfast/domain';
import type { TestDatabase } from '@holdfast/testing';
import type { HandConnection } from './support/hand-connection.ts';
import type { SeededRandom } from './support/seeded-random.ts';

const callerCount = 64;
/** In both ways together 3 840 turns: those of a minute in which every caller comes once a second. */
const turnsPerCaller = 30;
/** On a slow machine the callers stand in line for the key most of the time: they go on until so many jobs have run. */
const leastRunCount = 11;

let test: TestDatabase;
let projectId: string;
let queueId: string;
let callers: readonly HandConnection[];
let watcher: HandConnection;

beforeAll(async () => {
  test = await createTestDatabase();
  ({ projectId } = await createJobFactory(test.database));
  const [queue] = (await resolveQueues(test.database, projectId, ['unique'])).values();
  queueId = queue?.id ?? '';
  callers = await Promise.all(
    Array.from({ length: callerCount }, () => openHandConnection(test.url, { kind: 'lane' })),
  );
  watcher = await openHandConnection(test.url);
});
afterAll(async () => {
  await Promise.all([...callers, watcher].map((connection) => connection.close()));
  await test.drop();
});
beforeEach(async () => {
  await test.database.execute(
    'truncate holdfast.jobs, holdfast.job_history, holdfast.job_executions, holdfast.unique_locks, holdfast.job_dependencies, holdfast.job_endings',
  );
});

/** Jobs that run at one moment, where it is more than one. */
const runTogether: Statement = {
  name: 'test_run_together',
  text: `select array_agg(id) as ids from holdfast.jobs where status in ('claimed', 'running') having count(*) > 1`,
};

/** Executions that began before an earlier one had ended. */
const overlaps: Statement = {
  name: 'test_overlaps',
  text: `select * from (
      select job_id, claimed_at, max(ended_at) over (
        order by claimed_at, ended_at rows between unbounded preceding and 1 preceding
      ) as earlier_ended_at
      from (
        select job_id, claimed_at, coalesce(finished_at, lease_lost_at) as ended_at from holdfast.job_executions
      ) as e
    ) as e
    where claimed_at < earlier_ended_at`,
};

const decisions: readonly Decision[] = [
  ...[endings.complete, endings.complete, endings.complete, endings.deadLetter, endings.drain],
  ...[endings.retry, endings.release].map((ending) => ({ ...ending, delayMs: 0 })),
];

/** How a caller takes its turns. */
interface Habits {
  readonly onConflict: UniqueConflictMode;
  readonly random: SeededRandom;
}

async function finish(db: Queryable, job: ClaimedJob, decision: Decision): Promise<void> {
  const error = { code: 'handler_failed', message: 'No', fingerprint: 'test' };
  const { id, leaseToken: token, executionSeq } = job;
  const ended = { id, token, executionSeq, startedAgoMs: 0, finishedAgoMs: 0 };
  const jobs = [{ ...ended, decision: { error, ...decision } }];
  await finishJobs(db, { projectId, transition: decision.transition, jobs });
}

async function enqueue(caller: HandConnection, onConflict: UniqueConflictMode): Promise<void> {
  await caller.run('begin');
  const jobs = [uniqueJob({ key: 'the only one', onConflict })];
  await enqueueUniqueJobs(test.database, { projectId, jobs, tx: caller });
  await caller.run('commit');
}

/** Asks for a job, takes what is due and ends it, and now and then does what a scheduler does. */
async function takeTurn(caller: HandConnection, { onConflict, random }: Habits): Promise<number> {
  await enqueue(caller, onConflict);
  const jobs = await claimFrom(asLane(caller), { projectId, queueId, type: 'test.job' }, 5);
  const started = jobs.map((job) => ({ id: job.id, token: job.leaseToken, startedAgoMs: 0 }));
  if (jobs.length > 0) await startJobs(caller, { projectId, started });
  for (const job of jobs) await finish(caller, job, random.pick(decisions));
  if (random.below(4) === 0) {
    await settleEndings(test.database);
    await promoteJobs(test.database);
  }
  return jobs.length;
}

it.each(['keep', 'queue_latest'] as const)(
  '64 callers that enqueue and run one key, at least 30 times each, never run it twice at once: %s',
  async (onConflict) => {
    const seed = randomInt(2 ** 32);
    let isOver = false;
    let runTotal = 0;
    const together: object[] = [];
    const lookOn = async (): Promise<void> => {
      while (!isOver) together.push(...(await watcher.query(runTogether)));
    };
    const call = async (caller: HandConnection, index: number): Promise<void> => {
      // Its own, so that what it draws does not depend on who comes first.
      const habits = { onConflict, random: seededRandom(seed + index) };
      for (let turn = 0; turn < turnsPerCaller || runTotal < leastRunCount; turn += 1) {
        const runCount = await takeTurn(caller, habits);
        runTotal += runCount;
      }
    };
    const looking = lookOn();
    await Promise.all(callers.map(call)).finally(() => {
      isOver = true;
    });
    await looking;
    await settleAll(test.database);
    expect(together, `seed ${String(seed)}`).toEqual([]);
    expect(await watcher.query(overlaps), `seed ${String(seed)}`).toEqual([]);
    const executions = await watcher.query({
      name: 'test_executions',
      text: 'select from holdfast.job_executions',
    });
    expect(executions).toHaveLength(runTotal);
  },
);

it('the look back notices executions that overlap', async () => {
  await test.database.execute(`
    insert into holdfast.job_executions (
      project_id, job_id, worker_id, execution_seq, attempt, generation, status, recorded_at, claimed_at, finished_at
    )
    select p.id, gen_random_uuid(), gen_random_uuid(), 1, 1, 0, 'completed', now(), now() + n * interval '1 second',
      now() + (n + 1.5) * interval '1 second'
    from holdfast.projects as p, generate_series(1, 2) as n where p.slug = 'default'`);
  expect(await watcher.query(overlaps)).toHaveLength(1);
});
