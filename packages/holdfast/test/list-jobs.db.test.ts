import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { Holdfast, ListJobsOptions } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

const echo = defineJob({ type: 'echo', run: (n: number) => n });
const other = defineJob<number>({ type: 'other' });
/** By a name that says what is special about each. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
  ids['done'] = (await holdfast.enqueue(echo, 1)).id;
  const worker = createWorker({ holdfast, jobs: [echo], maintenance: false });
  await worker.start();
  await holdfast.wait(ids['done']);
  await worker.stop();
  ids['queued'] = (await holdfast.enqueue(other, 2, { queue: 'side', tags: ['red'] })).id;
  ids['later'] = (await holdfast.enqueue(other, 3, { delay: '1h' })).id;
  const unique = { order: { id: 7, by: 'Ada Lovelace' } };
  ids['unique'] = (await holdfast.enqueue('search', unique, { unique: { key: 'own' } })).id;
  const batch = await holdfast.batch([echo.with(4)]).enqueue();
  ids['batch'] = batch.id;
  ids['member'] = batch.jobIds[0] ?? '';
});
afterAll(() => test.close());

/** The names of the jobs that a list gives. */
async function namesOf(options: ListJobsOptions): Promise<readonly string[]> {
  const { jobs } = await holdfast.list(options);
  return jobs.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id) ?? id);
}

describe('a list of jobs', () => {
  it('has all of them, ended ones too, the newest first', async () => {
    expect(await namesOf({})).toEqual(['member', 'unique', 'later', 'queued', 'done']);
    const { jobs, nextCursor } = await holdfast.list();
    expect(nextCursor).toBeUndefined();
    const { payload: _, result, metadata: __, ...summary } = await holdfast.get(ids['done'] ?? '');
    expect(result).toBe(1);
    expect(jobs.at(-1)).toEqual(summary);
  });

  it.each<[ListJobsOptions, readonly string[]]>([
    [{ status: 'completed' }, ['done']],
    [{ status: ['scheduled', 'completed'] }, ['later', 'done']],
    [{ type: 'other' }, ['later', 'queued']],
    [{ queue: 'side' }, ['queued']],
    [{ queue: 'unheard-of' }, []],
    [{ tag: 'red' }, ['queued']],
    [{ tag: 'red', status: 'scheduled' }, []],
    [{ key: 'own' }, ['unique']],
    [{ key: 'own', status: 'completed' }, []],
    [{ payload: { order: { id: 7 } } }, ['unique']],
    [{ payload: { order: {} } }, ['unique']],
    [{ payload: { order: { id: 8 } } }, []],
    [{ payload: 'Lovelace' }, ['unique']],
    [{ payload: 'Babbage', type: 'other' }, []],
  ])('is filtered by %j', async (filter, expected) => {
    expect(await namesOf(filter)).toEqual(expected);
  });

  it('is that of the time between two instants', async () => {
    const { createdAt } = await holdfast.get(ids['later'] ?? '');
    const later = (ms: number) => new Date(createdAt.getTime() + ms);
    const type = 'other';
    expect(await namesOf({ type, createdAfter: later(-1), createdBefore: later(1) })).toContain(
      'later',
    );
    expect(await namesOf({ type, createdAfter: later(1) })).toEqual([]);
    expect(await namesOf({ createdBefore: new Date(0) })).toEqual([]);
  });

  it.each([
    { key: '' },
    { key: 'x'.repeat(513) },
    { payload: '' },
    { payload: 'a\0b' },
    { payload: 7 },
    { payload: { a: new Map() } },
    { createdAfter: 'yesterday' },
    { createdBefore: new Date(NaN) },
  ])('cannot be filtered by %j', async (filter) => {
    const listed = holdfast.list(filter as ListJobsOptions);
    await expect(listed).rejects.toMatchObject({ code: 'options_invalid' });
  });

  it('is that of one batch', async () => {
    expect(await namesOf({ batchId: ids['batch'] })).toEqual(['member']);
  });

  it('comes in pages, each where the one before has ended, whatever is added meanwhile', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await holdfast.list({ type: 'echo', limit: 1, cursor });
      seen.push(...page.jobs.map(({ id }) => id));
      cursor = page.nextCursor;
      await holdfast.enqueue(echo, 5);
    } while (cursor !== undefined);
    expect(seen).toEqual([ids['member'], ids['done']]);
  });

  it('refuses what is none, by name and all at once', async () => {
    const bad = {
      ...{ status: ['done'], type: 7, queue: 'a b', tag: '', batchId: 'b', limit: 0 },
      ...{ cursor: ids['done'], page: 2 },
    };
    const words = ['page', 'type', 'tag', 'batchId', 'cursor', 'limit', 'status', 'queue'];
    await expect(holdfast.list(bad as never)).rejects.toMatchObject({
      code: 'options_invalid',
      problems: words.map((word) => expect.stringContaining(word) as string),
    });
    await expect(holdfast.list({ status: [] })).rejects.toThrow(/status must name a status/);
    await expect(holdfast.list('all' as never)).rejects.toThrow(/must be an object/);
  });
});

it('names the queue that is asked for', async () => {
  expect(await holdfast.queues.get('side')).toMatchObject({ name: 'side', counts: { queued: 1 } });
  await expect(holdfast.queues.get(undefined as never)).rejects.toThrow(/the name must be/);
  await expect(holdfast.queues.resume(undefined as never)).rejects.toThrow(/the name must be/);
});
