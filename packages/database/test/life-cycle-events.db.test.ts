import { jobTransitions, lifeCycleEvents, uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transitionCases } from './support/transition-cases.ts';
import type { JobStatus, LifeCycleEvent, Transition, TransitionName } from '@holdfast/domain';
import type { JobFactory, MadeJob, TestDatabase } from '@holdfast/testing';

/** What each transition announces about its job. */
const announced: Readonly<Record<TransitionName, readonly LifeCycleEvent[]>> = {
  enqueue_jobs: ['JobQueued'],
  schedule_jobs: ['JobScheduled'],
  hold_back_jobs: ['JobScheduled'],
  promote_jobs: ['JobQueued'],
  unblock_jobs: ['JobQueued'],
  postpone_unblocked_jobs: ['JobScheduled'],
  claim_jobs: ['JobProcessing'],
  claim_jobs_within_limit: ['JobProcessing'],
  start_jobs: [],
  complete_jobs: ['JobProcessed'],
  retry_jobs: ['JobTimedOut'],
  fail_jobs: ['JobExceptionOccurred'],
  dead_letter_jobs: ['JobExceptionOccurred', 'JobFailed'],
  release_jobs: ['JobReleased'],
  return_jobs: [],
  abandon_jobs: ['JobCancelled'],
  cancel_jobs: ['JobCancelled'],
  expire_jobs: ['JobCancelled'],
  force_cancel_jobs: ['JobCancelled'],
  reap_jobs: ['JobRescued'],
  reap_blameless_jobs: ['JobRescued'],
  reap_suspect_jobs: ['JobRescued'],
  reap_poison_jobs: ['JobFailed'],
  reap_spread_jobs: ['JobRescued'],
  retry_job: ['JobQueued'],
  run_job_now: ['JobQueued'],
  replay_job: ['JobQueued'],
  revive_jobs: ['JobScheduled'],
  retire_dead_letters: [],
};

interface EventRow {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let test: TestDatabase;
let factory: JobFactory;

beforeAll(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});
beforeEach(async () => {
  await test.database.execute('truncate holdfast.events, holdfast.event_subscriptions');
});
afterAll(async () => {
  await test.drop();
});

const cases = Object.entries(jobTransitions).flatMap(([name, { from }]: [string, Transition]) => {
  const starts: readonly (JobStatus | 'absent')[] = from.length === 0 ? ['absent'] : from;
  return starts.map((start) => [name as TransitionName, start] as const);
});

async function make(name: TransitionName, start: JobStatus | 'absent', eventId?: string) {
  const { recipe = {}, prepare } = transitionCases[name];
  const job =
    start === 'absent' ? await nobody() : await factory.make(start, { ...recipe, eventId });
  await prepare?.(test.database, job);
  return job;
}

/** A job that was never enqueued, in a queue that exists. */
async function nobody(): Promise<MadeJob> {
  const neighbour = await factory.completed();
  return { ...neighbour, id: uuidV7(Date.now()), lease: undefined };
}

function transit(name: TransitionName, job: MadeJob): Promise<void> {
  const lease = job.lease ?? { id: job.id, token: randomUUID() };
  return transitionCases[name].run(test.database, job, lease);
}

/** Everybody hears everything, in two projects. */
async function subscribeToAll(): Promise<void> {
  const names = Object.keys(lifeCycleEvents).map((event) => `('${event}')`);
  await test.database.execute(`
    insert into holdfast.event_subscriptions (project_id, id, event)
    select p.id, gen_random_uuid(), e.event
    from holdfast.projects as p, (values ${names.join(', ')}) as e (event)
  `);
}

async function eventsOf(jobId: string): Promise<readonly EventRow[]> {
  return test.database.query<EventRow>(
    {
      name: 'test_events_of',
      text: 'select event, data from holdfast.events where job_id = $1 order by event',
    },
    [jobId],
  );
}

async function countEvents(): Promise<number> {
  const [row] = await test.database.query<{ count: string }>({
    name: 'test_count_events',
    text: 'select count(*) as count from holdfast.events',
  });
  return Number(row?.count);
}

describe('a transition that somebody subscribed to', () => {
  it.each(cases)('%s announces what became of a job that was %s', async (name, start) => {
    const job = await make(name, start);
    await subscribeToAll();
    await transit(name, job);
    const events = await eventsOf(job.id);
    expect(events.map(({ event }) => event)).toEqual(announced[name]);
    for (const { data } of events) {
      expect(data).toMatchObject({ type: job.type, queue: job.queue });
      expect(data).toMatchObject({
        attempt: expect.any(Number) as unknown,
        executionSeq: expect.any(Number) as unknown,
      });
      expect(Object.keys(data).filter((key) => !fields.has(key))).toEqual([]);
    }
  });

  const loud = cases.filter(([name, start]) => start !== 'absent' && announced[name].length > 0);

  it.each(loud)('%s announces nothing of a listener’s %s job', async (name, start) => {
    const job = await make(name, start, randomUUID());
    await subscribeToAll();
    await transit(name, job);
    expect(await eventsOf(job.id)).toEqual([]);
  });

  it.each(cases)('%s announces nothing of a %s job in silence', async (name, start) => {
    await transit(name, await make(name, start));
    expect(await countEvents()).toBe(0);
  });
});

const fields = new Set([
  'type',
  'queue',
  'attempt',
  'executionSeq',
  'reason',
  'error',
  'nextDelayMs',
]);

describe('what is announced', () => {
  beforeEach(subscribeToAll);

  it('counts the attempt that was claimed', async () => {
    const { id } = await factory.claimed();
    const [processing] = (await eventsOf(id)).filter(({ event }) => event === 'JobProcessing');
    expect(processing?.data).toMatchObject({ attempt: 1, executionSeq: 1 });
  });

  it('says why an attempt failed and when the next one comes, and keeps the stack to itself', async () => {
    const job = await factory.running();
    await transit('retry_jobs', job);
    const [timedOut] = (await eventsOf(job.id)).filter(({ event }) => event === 'JobTimedOut');
    expect(timedOut?.data).toEqual({
      type: job.type,
      queue: job.queue,
      attempt: 1,
      executionSeq: 1,
      reason: 'exponential',
      error: { code: 'handler_failed', message: 'No' },
      nextDelayMs: 5_000,
    });
  });

  it('says how long a new job waits', async () => {
    const { id } = await factory.scheduled({ delayMs: 60_000 });
    const [scheduled] = await eventsOf(id);
    expect(scheduled?.data['nextDelayMs']).toBeGreaterThan(50_000);
    expect(scheduled?.data['nextDelayMs']).toBeLessThanOrEqual(60_000);
  });

  it('is not said again of an id that exists', async () => {
    const job = await factory.queued();
    await transit('enqueue_jobs', job);
    expect(await eventsOf(job.id)).toHaveLength(1);
  });
});

it('is silent about the types that nobody subscribed to', async () => {
  await test.database.execute(`
    insert into holdfast.event_subscriptions (project_id, id, event)
    values ('${factory.projectId}', gen_random_uuid(), 'JobFailed')
  `);
  await factory.completed();
  const dead = await factory.deadLetter();
  expect((await eventsOf(dead.id)).map(({ event }) => event)).toEqual(['JobFailed']);
  expect(await countEvents()).toBe(1);
});

it('is silent about other projects', async () => {
  const other = randomUUID();
  await test.database.execute(`
    insert into holdfast.projects (id, slug, name) values ('${other}', 'p-${other}', 'Other');
    insert into holdfast.event_subscriptions (project_id, id, event)
    select '${other}', gen_random_uuid(), e.event
    from (values ('JobQueued'), ('JobProcessed'), ('JobRescued'), ('JobCancelled')) as e (event)
  `);
  await factory.completed();
  await factory.cancelled();
  await transit('reap_jobs', await factory.running({ leaseMs: 0 }));
  await transit('promote_jobs', await factory.scheduled({ delayMs: 0.001 }));
  expect(await countEvents()).toBe(0);
});
