import { defaultBackoff, maxBackoffMs } from '@holdfast/domain';
import { Release } from '../src/handler.ts';
import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkshop } from './support/workshop.ts';
import type { Workshop } from './support/workshop.ts';

let shop: Workshop;

beforeAll(async () => {
  shop = await openWorkshop();
  const handlers = {
    works: () => Promise.resolve('in time'),
    fails: () => Promise.reject(new Error('no')),
    releases: () => Promise.resolve(new Release(3_600_000, 'not yet')),
  };
  await shop.start({ handlers, pollIntervalMs: 10 });
});
afterAll(async () => {
  await shop.close();
});

describe('the wait after a failed attempt', () => {
  it.each([
    ['{}', 1_000],
    ['null', 1_000],
    ['[]', 1_000],
    ['"manual"', 1_000],
    ['{"mode":"automatic"}', 1_000],
    ['{"mode":null,"backoff":null}', 1_000],
    ['{"backoff":{}}', 1_000],
    ['{"backoff":{"kind":"exponential"}}', 1_000],
    [
      '{"backoff":{"kind":"exponential","baseMs":null,"factor":null,"maxMs":null,"jitter":null}}',
      1_000,
    ],
    ['{"backoff":{"kind":"fixed"}}', 1_000],
    ['{"backoff":{"kind":"list"}}', 1_000],
    ['{"backoff":{"kind":"list","delaysMs":[]}}', 1_000],
    ['{"backoff":{"kind":"fixed","delayMs":0}}', 0],
    ['{"backoff":{"kind":"fixed","delayMs":-5}}', 1_000],
    ['{"backoff":{"kind":"fixed","delayMs":"soon"}}', 1_000],
    ['{"backoff":{"kind":"list","delaysMs":[null]}}', 1_000],
    ['{"backoff":{"kind":"fixed","delayMs":1e300}}', maxBackoffMs],
  ])('is one, whatever was stored: %s', async (retryJson, leastMs) => {
    const id = await shop.enqueue('fails', { delayMs: 3_600_000 });
    await shop.ask(
      `update holdfast.jobs set retry = $2::jsonb, status = 'queued', seq = nextval('holdfast.job_seq')
       where id = $1`,
      [id, retryJson],
    );
    const [row] = await waitFor('the attempt has failed', async () => {
      const rows = await shop.ask<{ delay: number; waits: boolean }>(
        `select next_delay_ms::float8 as delay, run_at > e.finished_at - interval '1 s' and isfinite(run_at) as waits
         from holdfast.job_executions as e join holdfast.jobs as j on j.id = e.job_id where j.id = $1`,
        [id],
      );
      return rows.length > 0 && rows;
    });
    expect(row?.waits).toBe(true);
    expect(row?.delay).toBeGreaterThanOrEqual(leastMs);
    expect(row?.delay).toBeLessThanOrEqual(maxBackoffMs);
    if (leastMs === 1_000) expect(row?.delay).toBeLessThanOrEqual(defaultBackoff.baseMs);
  });
});

describe('the timeout of an attempt', () => {
  it('counts from its start, however long the job has waited', async () => {
    const id = await shop.enqueue('works', {
      delayMs: 3_600_000,
      timeoutMs: 60_000,
      maxAttempts: 1,
    });
    await shop.ask(
      `update holdfast.jobs
       set created_at = created_at - interval '2 hours', run_at = run_at - interval '2 hours'
       where id = $1`,
      [id],
    );
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: 'in time' });
    expect(await shop.executions(id)).toEqual([{ status: 'completed', seq: 1 }]);
  });
});

describe('a job that is released again and again', () => {
  it('uses no attempt a hundred times, and fails from then on', async () => {
    const id = await shop.enqueue('releases', { maxAttempts: 2 });
    const counts = async () =>
      (
        await shop.ask(
          `select attempt, max_attempts, release_count, crash_count, execution_seq, status::text
           from holdfast.all_jobs where id = $1`,
          [id],
        )
      )[0];
    const untilReleased = (times: number) =>
      waitFor(
        'it has been released',
        async () => {
          await shop.ask(
            `update holdfast.jobs set status = 'queued', seq = nextval('holdfast.job_seq')
           where id = $1 and status = 'scheduled' and release_count < $2`,
            [id, times],
          );
          const [row] = await shop.ask<{ count: number }>(
            'select release_count as count from holdfast.jobs where id = $1',
            [id],
          );
          return row?.count === times;
        },
        { timeoutMs: 40_000 },
      );
    await untilReleased(100);
    expect(await counts()).toEqual({
      ...{ attempt: 0, max_attempts: 2, release_count: 100, crash_count: 0 },
      ...{ execution_seq: 100, status: 'scheduled' },
    });
    expect(await shop.untilEnded(id)).toMatchObject({
      ...{ status: 'dead_letter', reason: 'attempts_exhausted' },
      lastError: { code: 'release_limit_exceeded' },
    });
    expect(await counts()).toMatchObject({ attempt: 2, max_attempts: 2, release_count: 100 });
    const statuses = (await shop.executions(id)).map(({ status }) => status);
    expect(statuses).toEqual([...Array<string>(100).fill('released'), 'failed', 'failed']);
  });
});
