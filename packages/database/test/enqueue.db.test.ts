import {
  createEnqueuer,
  createNotifier,
  createQueue,
  deleteQueue,
  enqueueJobs,
  finishJobs,
  openDatabase,
  readJob,
  resolveQueues,
  statements,
  updateQueue,
} from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntilSomeBlocked } from './support/hand-connection.ts';
import { beforeStatement } from './support/held-database.ts';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { createRace, idsOf } from './support/race.ts';
import { readStoredJobs } from './support/stored-jobs.ts';
import type { Enqueuer, NewJob, Notifier } from '@holdfast/database';
import type { Race } from './support/race.ts';
import type { StoredSettings } from './support/stored-jobs.ts';

let race: Race;
let notifier: Notifier;
let enqueuer: Enqueuer;

beforeAll(async () => {
  race = await createRace();
  notifier = createNotifier(race.database);
  enqueuer = createEnqueuer(race.database, notifier);
});
afterAll(async () => {
  await notifier.close();
  await race.close();
});

function newJob(more: Partial<NewJob> = {}): NewJob {
  const id = uuidV7(Date.now());
  return { id, queue: 'mail', type: 'test.job', payloadJson: '{}', ...more };
}

function idsIn(jobs: readonly NewJob[]): readonly string[] {
  return jobs.map(({ id }) => id);
}

function enqueue(jobs: readonly NewJob[]) {
  return enqueueJobs(race.database, { projectId: race.factory.projectId, jobs });
}

describe('an id that is enqueued twice', () => {
  it('makes one job, whose settings stay those of the first call', async () => {
    const first = newJob({ payloadJson: '1' });
    expect((await enqueue([first])).insertedIds).toEqual(new Set([first.id]));
    const again = { ...first, payloadJson: '2', delayMs: 60_000 };
    expect((await enqueue([again])).insertedIds).toEqual(new Set());
    const key = { projectId: race.factory.projectId, id: first.id };
    expect(await readJob(race.database, key)).toMatchObject({ status: 'queued', payload: 1 });
  });

  it('makes one job when both are in one call', async () => {
    const job = newJob();
    expect((await enqueue([job, job])).insertedIds).toEqual(new Set([job.id]));
    expect(await readStoredJobs(race.database, [job.id])).toHaveLength(1);
  });

  it('makes one job when two sessions insert it at once', async () => {
    const job = newJob();
    await enqueue([newJob()]);
    const { projectId } = race.factory;
    const database = race.database;
    await race.hold((tx) => enqueueJobs(database, { projectId, jobs: [job], tx }));
    const { result } = await race.startBlocked((tx) => {
      return enqueueJobs(database, { projectId, jobs: [job], tx });
    });
    await race.commit();
    expect((await result).insertedIds).toEqual(new Set());
  });

  it('makes no second job of one that ends while the call is repeated', async () => {
    const { database, factory } = race;
    const { projectId } = factory;
    const job = await factory.running();
    const { id, queue, type, lease, executionSeq } = job;
    const decision = { transition: 'complete_jobs', executionStatus: 'completed' } as const;
    const ended = { ...lease, executionSeq, startedAgoMs: 0, finishedAgoMs: 0, decision };
    const meeting = beforeStatement(database, statements.enqueueJobs, async () => {
      await finishJobs(database, { projectId, transition: decision.transition, jobs: [ended] });
    });
    const jobs = [{ id, queue, type, payloadJson: '{}' }];
    const { insertedIds } = await enqueueJobs(meeting, { projectId, jobs, mayRepeat: true });
    expect(insertedIds).toEqual(new Set());
    expect(onlyRow(await takeSnapshot(database, job)).execution_seq).toBe(1);
  });

  it('tells only one of two callers that the job is new', async () => {
    const job = newJob();
    const { projectId } = race.factory;
    const answers = await Promise.all([
      enqueuer.enqueue(projectId, job),
      enqueuer.enqueue(projectId, job),
    ]);
    expect(answers).toEqual([true, false]);
    expect(await enqueuer.enqueue(projectId, job)).toBe(false);
  });
});

describe('jobs of one call', () => {
  it('are inserted all or none', async () => {
    const good = [newJob(), newJob({ delayMs: 60_000 })];
    const bad = newJob({ delayMs: 60_000, maxAttempts: 0 });
    await expect(enqueue([...good, bad])).rejects.toMatchObject({ code: '23514' });
    expect(await readStoredJobs(race.database, idsIn(good))).toEqual([]);
  });

  it('stand in line in their order', async () => {
    const jobs = Array.from({ length: 20 }, () => newJob({ queue: 'ordered' }));
    await enqueue(jobs);
    const rows = await race.database.query<{ id: string }>({
      name: 'test_line',
      text: `select j.id from holdfast.jobs as j join holdfast.queues as q on q.id = j.queue_id
        where q.name = 'ordered' order by j.seq`,
    });
    expect(rows.map(({ id }) => id)).toEqual(idsIn(jobs));
  });

  it('say which queues to wake, and whether a scheduler is to be', async () => {
    const done = await enqueue([newJob({ queue: 'now' }), newJob({ queue: 'later', delayMs: 1 })]);
    expect(done.scheduled).toBe(true);
    expect(done.queueIds).toHaveLength(1);
  });
});

describe('a new queue', () => {
  it('that two processes make at once is found by both', async () => {
    const { projectId } = race.factory;
    const name = 'made-by-two';
    const made = await race.hold((tx) =>
      idsOf(tx, statements.ensureQueues, [projectId, `{${name}}`]),
    );
    const other = openDatabase({ connectionString: race.url });
    const found = resolveQueues(other, projectId, [name]);
    await waitUntilSomeBlocked(race.database);
    await race.commit();
    expect((await found).get(name)?.id).toBe(made[0]);
    await other.close();
  });

  it('is found without waiting for whoever holds its row', async () => {
    const { projectId } = race.factory;
    const { queue, queueId } = await race.factory.queued();
    await race.hold((tx) => tx.query(statements.lockQueue, [projectId, queueId]));
    const other = openDatabase({ connectionString: race.url });
    expect((await resolveQueues(other, projectId, [queue])).get(queue)?.id).toBe(queueId);
    await race.commit();
    await other.close();
  });

  it('is made again when it was deleted', async () => {
    const { projectId } = race.factory;
    const name = 'deleted';
    await enqueue([newJob({ queue: name })]);
    const [first] = [...(await resolveQueues(race.database, projectId, [name])).values()];
    await race.database.execute(`delete from holdfast.jobs where queue_id = ${first?.id ?? ''}`);
    expect(await deleteQueue(race.database, { projectId, name })).toBe(true);
    const [second] = [...(await resolveQueues(race.database, projectId, [name])).values()];
    expect(second?.id).toBe(first?.id);
  });

  it('gives its defaults to the jobs that name nothing', async () => {
    const { projectId } = race.factory;
    const retry = { mode: 'manual', backoff: { kind: 'fixed', delayMs: 5 } } as const;
    const jobDefaults = { maxAttempts: 9, timeoutMs: 1_234, retry };
    await createQueue(race.database, { projectId, name: 'defaults', settings: { jobDefaults } });
    const own = { kind: 'list', delaysMs: [1] } as const;
    const jobs = [
      newJob({ queue: 'defaults' }),
      newJob({
        queue: 'defaults',
        ...{ maxAttempts: 2, timeoutMs: 5, retry: { mode: 'automatic', backoff: own } },
      }),
    ];
    await enqueue(jobs);
    const [plain, special] = await readStoredJobs(race.database, idsIn(jobs));
    expect(plain?.settings).toMatchObject({ max_attempts: 9, timeout_ms: 1_234, retry });
    expect(special?.settings).toMatchObject({ max_attempts: 2, timeout_ms: 5 });
    await updateQueue(race.database, {
      projectId,
      name: 'defaults',
      settings: { jobDefaults: { maxAttempts: 3 } },
    });
    const next = newJob({ queue: 'defaults' });
    await enqueue([next]);
    const [row] = await readStoredJobs(race.database, [next.id]);
    expect(row?.settings).toMatchObject({ max_attempts: 3, timeout_ms: 300_000, retry: null });
  });
});

describe('fifty calls at once', () => {
  it('share two inserts, each with its commit', async () => {
    const { projectId } = race.factory;
    const jobs = Array.from({ length: 50 }, () => newJob());
    const answers = await Promise.all(jobs.map((job) => enqueuer.enqueue(projectId, job)));
    expect(answers).toEqual(jobs.map(() => true));
    const text = `select count(distinct xmin::text)::integer as count
      from holdfast.jobs where id = any ($1::uuid[])`;
    const ids = `{${idsIn(jobs).join(',')}}`;
    const [row] = await race.database.query<{ count: number }>({ name: 'test_xmins', text }, [ids]);
    expect(row?.count).toBe(2);
  });

  it('with one bad job among them fail for that job alone', async () => {
    const { projectId } = race.factory;
    const jobs = Array.from({ length: 50 }, (_, index) =>
      newJob(index === 17 ? { maxAttempts: 0 } : { delayMs: index % 2 }),
    );
    const answers = await Promise.allSettled(jobs.map((job) => enqueuer.enqueue(projectId, job)));
    const refused = answers.flatMap((answer, index) => (answer.status === 'rejected' ? index : []));
    expect(refused).toEqual([17]);
    expect(answers[17]).toMatchObject({ reason: { code: '23514' } });
    expect(await readStoredJobs(race.database, idsIn(jobs))).toHaveLength(49);
  });

  it('of two projects are kept apart', async () => {
    const { projectId } = race.factory;
    const [own, foreign] = [newJob(), newJob()];
    const answers = await Promise.allSettled([
      enqueuer.enqueue(projectId, own),
      // No such project: its queue cannot be made.
      enqueuer.enqueue(uuidV7(Date.now()), foreign),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});

describe('what is stored', () => {
  // No NUL and no lone surrogate: the edges refuse both, since jsonb cannot hold them.
  const text = fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .map((each) => each.replaceAll('\0', ''));
  const name = fc.stringMatching(/^[A-Za-z0-9._:-]{1,20}$/);
  const odd = fc.oneof(
    text,
    fc.constantFrom(...[`'`, '"', '\\', '{}', 'NULL', '\n\t', '😀', '$1']),
  );
  const json = fc.dictionary(odd, fc.oneof(odd, fc.integer(), fc.boolean(), fc.constant(null)));
  const backoff = fc.record({ kind: fc.constant('fixed' as const), delayMs: fc.nat(1_000) });
  const options = fc.record(
    {
      queue: name,
      type: fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
        .filter((each) => !each.includes('\0')),
      payloadJson: json.map((value) => JSON.stringify(value)),
      priority: fc.integer({ min: 0, max: 9 }),
      maxAttempts: fc.integer({ min: 1, max: 1_000 }),
      timeoutMs: fc.integer({ min: 1, max: 86_400_000 }),
      retry: fc.record({ mode: fc.constantFrom('automatic' as const, 'manual' as const), backoff }),
      tags: fc.array(odd, { maxLength: 4 }),
      metadataJson: json.map((value) => JSON.stringify(value)),
      delayMs: fc.integer({ min: 0, max: 10_000_000 }),
    },
    { requiredKeys: ['queue', 'type', 'payloadJson'] },
  );

  it('is the same for one job alone, in bulk and through the shared insert', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(options, { minLength: 1, maxLength: 5 }), async (several) => {
        const copy = () => several.map((each) => newJob(each));
        const [alone, bulk, shared] = [copy(), copy(), copy()];
        for (const job of alone) await enqueue([job]);
        await enqueue(bulk);
        const { projectId } = race.factory;
        await Promise.all(shared.map((job) => enqueuer.enqueue(projectId, job)));
        const rows = await Promise.all([alone, bulk, shared].map(settingsOf));
        expect(rows[0]).toHaveLength(several.length);
        expect(rows[1]).toEqual(rows[0]);
        expect(rows[2]).toEqual(rows[0]);
      }),
      { numRuns: 25 },
    );
  });

  it('is what was given, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(options, async (given) => {
        const job = newJob(given);
        await enqueue([job]);
        const [row] = await readStoredJobs(race.database, [job.id]);
        expect(row?.settings).toMatchObject({
          type: given.type,
          payload: JSON.parse(given.payloadJson) as unknown,
          metadata:
            given.metadataJson === undefined ? null : (JSON.parse(given.metadataJson) as unknown),
          // An empty list is stored as none.
          tags: given.tags?.length ? given.tags : null,
          priority: given.priority ?? 5,
          status: given.delayMs ? 'scheduled' : 'queued',
        });
        expectWait(row, given.delayMs ?? 0);
      }),
      { numRuns: 40 },
    );
  });

  it('is due at the given instant, or now when that is past', async () => {
    const runAt = new Date(Date.now() + 3_600_000);
    const jobs = [newJob({ runAt, delayMs: 1 }), newJob({ runAt: new Date(0) })];
    await enqueue(jobs);
    const [later, past] = await readStoredJobs(race.database, idsIn(jobs));
    expect(new Date(later?.run_at ?? '').getTime()).toBe(runAt.getTime());
    expect(past).toMatchObject({ settings: { status: 'scheduled' } });
    expectWait(past, 0);
  });

  /** The two times of a row are read one after the other, and anything may come in between. */
  function expectWait(row: StoredSettings | undefined, delayMs: number): void {
    expect(Math.abs((row?.wait_ms ?? Number.NaN) - delayMs)).toBeLessThan(60_000);
  }

  async function settingsOf(jobs: readonly NewJob[]) {
    const rows = await readStoredJobs(race.database, idsIn(jobs));
    rows.forEach((row, index) => expectWait(row, jobs[index]?.delayMs ?? 0));
    return rows.map(({ settings }) => settings);
  }
});
