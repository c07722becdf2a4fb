import { waitFor } from '@holdfast/testing';
import { createWorker, defineJob, HoldfastError, NonRetryableError } from 'holdfast';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { countJobs } from './support/stored-rows.ts';
import type { BatchInfo, Holdfast, JobContext, Worker } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;
let worker: Worker;
/** What ran, in its order. */
let ran: string[];
/** Names of jobs that die, until they are taken out. */
let dying: Set<string>;
/** What a job does besides, by its name. */
let actions: Map<string, (ctx: JobContext) => unknown>;

const step = defineJob({
  type: 'step',
  async run({ name }: { name: string }, ctx) {
    ran.push(name);
    if (dying.has(name)) throw new NonRetryableError(`${name} died`);
    return (await actions.get(name)?.(ctx)) ?? { name, at: new Date(0) };
  },
});
const tell = defineJob({ type: 'tell', run: ({ name }: { name: string }) => void ran.push(name) });

const steps = (...names: readonly string[]) => names.map((name) => step.with({ name }));
const teller = (name: string) => tell.with({ name });

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());
beforeEach(async () => {
  ran = [];
  dying = new Set();
  actions = new Map();
  worker = createWorker({ holdfast, jobs: [step, tell] });
  await worker.start();
});
afterEach(() => worker.stop());

/** Waits until the batch has finished and called all its callbacks. */
function finished(id: string, count = 0): Promise<BatchInfo> {
  return waitFor('the batch has finished', async () => {
    const batch = await holdfast.batches.get(id);
    const isDone = batch.finishedAt !== undefined && ran.length >= count;
    return isDone && batch;
  });
}

describe('a batch', () => {
  it('calls then when all have completed, and finally after it', async () => {
    const { id, jobIds } = await holdfast
      .batch(steps('a', 'b'), { name: 'both' })
      .then(teller('then'))
      .catch(teller('catch'))
      .finally(teller('finally'))
      .enqueue();
    const batch = await finished(id, 4);
    expect(ran.slice(2)).toEqual(['then', 'finally']);
    expect(batch).toMatchObject({ kind: 'batch', name: 'both', status: 'completed' });
    expect(batch.callbacks.map(({ role }) => role)).toEqual(['catch', 'finally', 'then']);
    expect(batch.callbacks.map(({ percent }) => percent)).toEqual(Array(3).fill(undefined));
    const areMade = batch.callbacks.map(({ enqueuedAt }) => enqueuedAt instanceof Date);
    expect(areMade).toEqual([false, true, true]);
    const jobs = await Promise.all(jobIds.map((jobId) => holdfast.get(jobId)));
    expect(jobs.map(({ payload }) => payload)).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect([...jobIds].sort()).toEqual(jobIds);
  });

  it('calls catch for a dead member, then after it was retried, and each once', async () => {
    dying.add('b');
    const { id } = await holdfast
      .batch(steps('a', 'b'))
      .then(teller('then'))
      .catch(teller('catch'))
      .finally(teller('finally'))
      .enqueue();
    expect(await finished(id, 4)).toMatchObject({
      status: 'dead_letter',
      counts: { deadLetter: 1 },
    });
    expect(ran.slice(2)).toEqual(['catch', 'finally']);
    dying.clear();
    expect(await holdfast.batches.retryFailed(id)).toEqual({ retriedCount: 1 });
    expect(await finished(id, 6)).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    expect(ran.slice(4)).toEqual(['b', 'then']);
  });

  it('reports progress at each share', async () => {
    const batch = holdfast.batch(steps('a', 'b', 'c', 'd'));
    const { id } = await batch.progress(teller('progress'), { every: 50 }).enqueue();
    const { callbacks } = await finished(id, 6);
    expect(callbacks.map(({ percent }) => percent)).toEqual([50, 100]);
    expect(ran.filter((name) => name === 'progress')).toHaveLength(2);
  });

  it('calls then and finally at once when it is empty', async () => {
    const { id, jobIds } = await holdfast
      .batch([])
      .then(teller('then'))
      .finally(teller('finally'))
      .enqueue();
    expect(await finished(id, 2)).toMatchObject({ status: 'completed', counts: { total: 0 } });
    expect(jobIds).toEqual([]);
    expect([...ran].sort()).toEqual(['finally', 'then']);
  });

  it('takes batches, chains and graphs as members', async () => {
    const result = await holdfast
      .batch([
        ...steps('a'),
        holdfast.chain(steps('b1', 'b2')).then(teller('b')),
        holdfast.graph((g) => {
          g.add(teller('c2'), { after: g.add(teller('c1')) });
        }),
        holdfast.batch([]),
      ])
      .then(teller('then'))
      .enqueue();
    expect(await finished(result.id, 7)).toMatchObject({ counts: { total: 4, completed: 4 } });
    expect(ran.at(-1)).toBe('then');
    expect(ran.indexOf('b')).toBeGreaterThan(ran.indexOf('b2'));
    const [chain] = result.batches;
    expect(result.batches.map(({ jobIds }) => jobIds.length)).toEqual([2, 2, 0]);
    expect(await holdfast.batches.get(chain?.id ?? '')).toMatchObject({
      ...{ kind: 'chain', parentId: result.id, status: 'completed' },
    });
  });

  it('takes more members from inside of one, and from inside of its handler’s transaction', async () => {
    actions.set('a', (ctx) => ctx.batch?.add([...steps('b'), holdfast.chain(steps('c'))]));
    actions.set('b', (ctx) =>
      ctx.transaction(async (tx) => {
        await ctx.batch?.add(teller('d'), { tx });
        return 'added';
      }),
    );
    const { id } = await holdfast.batch(steps('a')).then(teller('then')).enqueue();
    expect(await finished(id, 5)).toMatchObject({ counts: { total: 4, completed: 4 } });
    expect([...ran].sort()).toEqual(['a', 'b', 'c', 'd', 'then']);
    expect(ran.at(-1)).toBe('then');
    await expect(holdfast.batches.add(id, steps('e'))).rejects.toMatchObject({
      code: 'batch_not_open',
    });
  });

  it('shows itself to its members and callbacks', async () => {
    const seen: (BatchInfo | undefined)[] = [];
    const look = async (ctx: JobContext) => void seen.push(await ctx.batch?.get());
    actions.set('a', look);
    actions.set('then', look);
    const { id } = await holdfast
      .batch(steps('a'))
      .then(step.with({ name: 'then' }))
      .enqueue();
    await finished(id, 2);
    await waitFor('both have looked', () => seen.length === 2);
    expect(seen.map((batch) => batch?.counts.completed)).toEqual([0, 1]);
    actions.set('alone', (ctx) => (ctx.batch === undefined ? 'none' : 'some'));
    const { id: jobId } = await holdfast.enqueue(step, { name: 'alone' });
    expect(await holdfast.wait(jobId)).toMatchObject({ result: 'none' });
  });

  it('is cancelled with everything in it', async () => {
    const later = step.with({ name: 'later' }, { delay: '1h' });
    const { id, batches } = await holdfast
      .batch([later, holdfast.chain([later, ...steps('never')])])
      .then(teller('then'))
      .finally(teller('finally'))
      .enqueue();
    expect(await holdfast.batches.cancel(id, { reason: 'no' })).toEqual({ cancelledCount: 3 });
    expect(await finished(id, 1)).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
    expect(ran).toEqual(['finally']);
    expect(await holdfast.batches.get(batches[0]?.id ?? '')).toMatchObject({
      counts: { cancelled: 2 },
    });
  });

  it('is made once for an id, and answers with the same ids again', async () => {
    const id = '01900000-0000-7000-8000-00000000000a';
    const make = () => holdfast.batch(steps('a', 'b'), { id }).then(teller('then')).enqueue();
    const first = await make();
    await finished(id, 3);
    expect(await make()).toEqual(first);
    expect(ran).toHaveLength(3);
  });

  it('is part of the caller’s transaction or not there at all', async () => {
    const later = step.with({ name: 'later' }, { delay: '1h' });
    const inTransaction = async (end: 'commit' | 'rollback') => {
      const { default: pg } = await import('pg');
      const client = new pg.Client(test.server.url);
      await client.connect();
      await client.query('begin');
      const { id } = await holdfast.batch([later]).then(teller('x')).enqueue({ tx: client });
      await expect(holdfast.batches.get(id)).rejects.toMatchObject({ code: 'batch_not_found' });
      await client.query(end);
      await client.end();
      return id;
    };
    const kept = await inTransaction('commit');
    expect(await holdfast.batches.get(kept)).toMatchObject({ counts: { total: 1 } });
    const gone = await inTransaction('rollback');
    await expect(holdfast.batches.get(gone)).rejects.toMatchObject({ code: 'batch_not_found' });
  });

  it('goes through the middleware with its callbacks', async () => {
    const other = await openHoldfast();
    const seen: string[] = [];
    other.holdfast.use((jobs, next) => {
      seen.push(...jobs.map(({ type }) => type));
      return next(jobs.map((job) => ({ ...job, options: { ...job.options, tags: ['traced'] } })));
    });
    const { jobIds } = await other.holdfast.batch(steps('a')).then(teller('then')).enqueue();
    expect(seen).toEqual(['step', 'tell']);
    expect(await other.holdfast.get(jobIds[0] ?? '')).toMatchObject({ tags: ['traced'] });
    await other.close();
  });

  it('can be waited for, with its callbacks', async () => {
    const { id } = await holdfast.batch(steps('a')).finally(teller('finally')).enqueue();
    const batch = await holdfast.batches.wait(id, { timeout: '45s' });
    expect(batch).toMatchObject({ status: 'completed', callbacks: [{ role: 'finally' }] });
    expect(batch.callbacks[0]?.endedAt).toBeInstanceOf(Date);
    const later = step.with({ name: 'later' }, { delay: '1h' });
    const { id: open } = await holdfast.batch([later]).enqueue();
    const early = holdfast.batches.wait(open, { timeout: 1 });
    await expect(early).rejects.toMatchObject({ code: 'wait_timed_out' });
  });

  it('takes thousands of members', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) =>
      tell.with({ name: String(index) }, { delay: '1h' }),
    );
    const { id, jobIds } = await holdfast.batch(many).then(teller('then')).enqueue();
    expect(new Set(jobIds).size).toBe(5_000);
    expect(await holdfast.batches.get(id)).toMatchObject({ counts: { total: 5_000 } });
    expect(await holdfast.batches.cancel(id)).toEqual({ cancelledCount: 5_000 });
  });
});

describe('a chain', () => {
  it('runs its jobs in order, and each can read what the one before gave', async () => {
    actions.set('b', async (ctx) => ({
      all: await ctx.parents.all(),
      result: await ctx.parents.resultOf(step),
    }));
    const { id, jobIds } = await holdfast.chain(steps('a', 'b', 'c')).enqueue();
    await finished(id, 3);
    expect(ran).toEqual(['a', 'b', 'c']);
    const [a, b] = jobIds;
    const stored = { name: 'a', at: new Date(0).toISOString() };
    expect((await holdfast.get(b ?? '')).result).toEqual({
      all: [{ id: a, type: 'step', status: 'completed', result: stored }],
      result: stored,
    });
  });

  it('makes a dead letter of a job that asks for the result of a parent that it does not have', async () => {
    actions.set('b', (ctx) => ctx.parents.resultOf(tell));
    const { jobIds } = await holdfast.chain(steps('a', 'b')).enqueue();
    const job = await holdfast.wait(jobIds[1] ?? '');
    expect(job).toMatchObject({ status: 'dead_letter', lastError: { code: 'parent_missing' } });
  });

  it('cancels what follows a dead link and calls catch; a replay of the link revives it', async () => {
    dying.add('a');
    const { id, jobIds } = await holdfast
      .chain(steps('a', 'b'))
      .catch(teller('catch'))
      .then(teller('then'))
      .enqueue();
    await finished(id, 2);
    expect(ran).toEqual(['a', 'catch']);
    expect(await holdfast.get(jobIds[1] ?? '')).toMatchObject({ reason: 'parent_failed' });
    dying.clear();
    await holdfast.replay(jobIds[0] ?? '');
    expect(await finished(id, 5)).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    expect(ran.slice(2)).toEqual(['a', 'b', 'then']);
  });
});

describe('a graph', () => {
  it('runs a job when all that it waits for have ended, by the policy of each', async () => {
    dying.add('a');
    actions.set('run', (ctx) => ctx.parents.resultsOf(step));
    const { jobIds } = await holdfast
      .graph((g) => {
        const a = g.add(step.with({ name: 'a' }));
        const b = g.add(step.with({ name: 'b' }));
        g.add(step.with({ name: 'run' }), { after: [a, b], onParentFailure: 'run' });
        g.add(step.with({ name: 'cancelled' }), { after: [a, b] });
        g.add(step.with({ name: 'waits' }), { after: a, onParentFailure: 'wait' });
      })
      .enqueue();
    const run = await holdfast.wait(jobIds[2] ?? '');
    expect(run.result).toEqual([{ name: 'b', at: new Date(0).toISOString() }]);
    expect(await holdfast.wait(jobIds[3] ?? '')).toMatchObject({ status: 'cancelled' });
    expect(await holdfast.get(jobIds[4] ?? '')).toMatchObject({
      ...{ status: 'scheduled', waitingOn: 1 },
    });
  });
});

describe('a builder', () => {
  it('cannot be awaited by mistake', async () => {
    const builder = holdfast.batch(steps('a')).then(teller('then'));
    const awaitIt = async () => {
      // @ts-expect-error the compiler says so as well
      // eslint-disable-next-line @typescript-eslint/await-thenable -- this is the mistake
      await builder;
    };
    await expect(awaitIt()).rejects.toMatchObject({ code: 'batch_awaited' });
    // eslint-disable-next-line @typescript-eslint/await-thenable -- and this is another one
    await expect(Promise.all([builder])).rejects.toThrow('call its enqueue()');
    expect(() => void (builder as unknown as Promise<void>).then(() => undefined)).toThrow(
      HoldfastError,
    );
  });

  it('stays as it is when it is added to', async () => {
    const count = await countJobs(test.server.url);
    const plain = holdfast.batch([]);
    plain.then(teller('then'));
    const { id } = await plain.enqueue();
    expect(await finished(id)).toMatchObject({ callbacks: [] });
    expect(await countJobs(test.server.url)).toBe(count);
  });

  it.each([
    ['a definition in place of a job', () => holdfast.batch([step as never])],
    ['members that are no list', () => holdfast.batch(steps('a')[0] as never)],
    ['an unknown option', () => holdfast.batch([], { allowFailure: true } as never)],
    ['a name that is too long', () => holdfast.batch([], { name: 'x'.repeat(201) })],
    ['an id that is none', () => holdfast.chain([], { id: 'x' })],
    ['a batch as a link', () => holdfast.chain([holdfast.batch([]) as never])],
    ['a second then', () => holdfast.batch([]).then(teller('a')).then(teller('b'))],
    ['a definition as callback', () => holdfast.batch([]).catch(tell as never)],
    ['progress at each 0 %', () => holdfast.batch([]).progress(teller('a'), { every: 0 })],
    [
      'a node of another graph',
      () => holdfast.graph((g) => void g.add(teller('a'), { after: { index: 0 } })),
    ],
    [
      'an unknown policy',
      () => holdfast.graph((g) => void g.add(teller('a'), { onParentFailure: 'die' as never })),
    ],
  ])('refuses %s at once', (_, build) => {
    expect(build).toThrow(expect.objectContaining({ code: 'options_invalid' }) as Error);
  });

  it.each([
    [
      'a unique key',
      () => holdfast.batch([teller('a'), tell.with({ name: 'b' }, { unique: { key: 'k' } })]),
    ],
    [
      'an instant for a job that waits',
      () => holdfast.chain([teller('a'), tell.with({ name: 'b' }, { runAt: new Date(4e12) })]),
    ],
    [
      'a start deadline of a callback',
      () => holdfast.batch([]).then(tell.with({ name: 'a' }, { startDeadline: '1m' })),
    ],
    ['a payload that is no JSON', () => holdfast.batch([tell.with({ name: 1n as never })])],
  ])('refuses %s when it is enqueued, and writes nothing', async (_, build) => {
    const count = await countJobs(test.server.url);
    await expect(build().enqueue()).rejects.toMatchObject({
      code: expect.stringMatching(/^(options|payload)_invalid$/) as string,
    });
    expect(await countJobs(test.server.url)).toBe(count);
  });

  it('refuses a job whose id is taken', async () => {
    const { id } = await holdfast.enqueue(step, { name: 'first' });
    await holdfast.wait(id);
    const again = holdfast.batch([step.with({ name: 'again' }, { id })]);
    await expect(again.enqueue()).rejects.toMatchObject({ code: 'batch_member_exists' });
  });
});
