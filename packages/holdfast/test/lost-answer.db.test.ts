import { openClientTransactions } from '@holdfast/database';
import { Holdfast, createWorker, defineJob } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBehindProxy } from './support/open-behind-proxy.ts';
import { countJobs, query } from './support/stored-rows.ts';
import type { TestDatabase } from '@holdfast/testing';
import type { CuttingProxy } from './support/cutting-proxy.ts';
import type { HoldfastBehindProxy } from './support/open-behind-proxy.ts';

let test: HoldfastBehindProxy;
let server: TestDatabase;
let proxy: CuttingProxy;
let holdfast: Holdfast;

beforeEach(async () => {
  test = await openBehindProxy();
  ({ server, proxy, holdfast } = test);
});
afterEach(() => test.close());

const echo = defineJob({ type: 'echo', run: (n: number) => n });

describe('an answer that is lost after the commit', () => {
  it('makes no second job of an enqueue', async () => {
    proxy.loseAnswerTo('enqueue_jobs');
    const { id, deduplicated } = await holdfast.enqueue(echo, 1);
    expect(proxy.cutCount).toBe(1);
    expect(deduplicated).toBe(false);
    expect(await query(server.url, 'select id from holdfast.jobs', [])).toEqual([{ id }]);
  });

  it('makes no second job of an enqueue for later', async () => {
    proxy.loseAnswerTo('schedule_jobs');
    const result = await holdfast.enqueue(echo, 1, { delay: '1h' });
    expect(proxy.cutCount).toBe(1);
    expect(result).toMatchObject({ status: 'scheduled', deduplicated: false });
    expect(await countJobs(server.url)).toBe(1);
  });

  it('makes no second jobs of many enqueues that shared an insert', async () => {
    await holdfast.enqueue(echo, -1);
    proxy.loseAnswerTo('enqueue_jobs');
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => holdfast.enqueue(echo, index)),
    );
    expect(proxy.cutCount).toBe(1);
    expect(results.every(({ deduplicated }) => !deduplicated)).toBe(true);
    expect(await countJobs(server.url)).toBe(51);
  });

  it('makes no second jobs of enqueueMany', async () => {
    proxy.loseAnswerTo('enqueue_jobs');
    const { ids } = await holdfast.enqueueMany(echo, Array(2_500).keys());
    expect(proxy.cutCount).toBe(1);
    expect(new Set(ids).size).toBe(2_500);
    expect(await countJobs(server.url)).toBe(2_500);
  });

  it('makes no second jobs of a slice whose transaction has two inserts', async () => {
    await holdfast.enqueue(echo, -1);
    proxy.loseAnswerTo('commit\0');
    await holdfast.enqueueMany(echo, [1, 2], {
      each: (_payload, index) => (index === 0 ? { delay: '1h' } : {}),
    });
    expect(proxy.cutCount).toBe(1);
    expect(await countJobs(server.url)).toBe(3);
  });

  it('makes no second event, and tells of the one that is there', async () => {
    await holdfast.subscribe('user.registered', echo);
    proxy.loseAnswerTo('commit\0');
    const { id, jobIds } = await holdfast.emit('user.registered', 1);
    expect(proxy.cutCount).toBe(1);
    const jobs = await query(server.url, 'select id, event_id from holdfast.jobs', []);
    expect(jobs).toEqual([{ id: jobIds[0], event_id: id }]);
  });

  it('makes no failure of a cancel', async () => {
    const { id } = await holdfast.enqueue(echo, 1);
    proxy.loseAnswerTo('cancel_jobs');
    expect(await holdfast.cancel(id)).toEqual({ outcome: 'cancelled' });
    expect(proxy.cutCount).toBe(1);
    await expect(holdfast.cancel(id)).rejects.toMatchObject({ code: 'job_not_in_state' });
  });

  it('makes no second batch, and adds no member twice', async () => {
    const jobs = [echo.with(1), echo.with(2)];
    await holdfast.enqueue(echo, -1);
    proxy.loseAnswerTo('commit\0');
    const { id, jobIds } = await holdfast.batch(jobs).then(echo.with(3)).enqueue();
    proxy.loseAnswerTo('commit\0');
    const added = await holdfast.batches.add(id, [echo.with(4), holdfast.chain(jobs)]);
    expect(proxy.cutCount).toBe(2);
    expect(await holdfast.batches.get(id)).toMatchObject({ counts: { total: 4 } });
    expect(await countJobs(server.url)).toBe(6);
    expect([jobIds.length, added.jobIds.length]).toEqual([2, 1]);
  });

  it('makes no second job when the first has ended meanwhile', async () => {
    await using elsewhere = new Holdfast({ connectionString: server.url });
    await using worker = createWorker({ holdfast: elsewhere, jobs: [echo], maintenance: false });
    await worker.start();
    // The second try finds the first job in the history, if it comes late enough.
    proxy.loseAnswerTo('enqueue_jobs');
    const { id } = await holdfast.enqueue(echo, 7);
    expect(await holdfast.wait(id, { timeout: '45s' })).toMatchObject({ result: 7 });
    expect(await holdfast.enqueue(echo, 8, { id })).toMatchObject({
      status: 'completed',
      deduplicated: true,
    });
    expect(await countJobs(server.url)).toBe(1);
  });
});

describe('connections that the server ends', () => {
  it('are replaced without an error to the caller', async () => {
    await holdfast.enqueue(echo, 1);
    await query(
      server.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
      [],
    );
    await Promise.all([2, 3, 4].map((n) => holdfast.enqueue(echo, n)));
    expect(await countJobs(server.url)).toBe(4);
  });

  it('do not end the process when they were only just made', async () => {
    proxy.endWhenMade(1);
    const { id } = await holdfast.enqueue(echo, 1);
    proxy.endWhenMade(1);
    await using other = new Holdfast({ connectionString: proxy.url });
    expect(await other.get(id)).toMatchObject({ status: 'queued' });
    const transactions = openClientTransactions({
      ...{ settings: { connectionString: proxy.url }, poolSize: 1 },
      onIdleError: () => undefined,
    });
    proxy.endWhenMade(1);
    const look = () => transactions.transaction((client) => client.query('select 1 as n'));
    await expect(look()).rejects.toThrow('connection');
    expect((await look()).rows).toEqual([{ n: 1 }]);
    await transactions.close();
  });
});
