import { defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;

beforeAll(async () => {
  test = await openHoldfast();
});
afterAll(() => test.close());

const job = defineJob<number>({ type: 'edited', queue: 'edited' });

describe.each([
  '{}',
  '[1]',
  '"manual"',
  '{"mode":"manual"}',
  '{"backoff":{"kind":"list","delaysMs":[]}}',
  '{"backoff":{"kind":"fixed"}}',
  '{"backoff":{"kind":"fixed","delayMs":"5s"}}',
  '{"backoff":{"kind":"list","delaysMs":["soon"]}}',
  '{"backoff":{"kind":"exponential","baseMs":"5s","factor":"two"},"retryUntil":"tomorrow"}',
])('a policy of retries that somebody wrote in SQL as %s', (json) => {
  it('is read with the defaults where it says nothing', async () => {
    const { holdfast, server } = test;
    const { id } = await holdfast.enqueue(job, 1);
    await server.database.execute(`update holdfast.jobs set retry = '${json}' where id = '${id}'`);
    const { backoff } = await holdfast.get(id);
    expect(backoff).toMatchObject({ kind: 'exponential', baseMs: 5_000, jitter: 'full' });
    expect((await holdfast.list({ queue: 'edited', limit: 1 })).jobs[0]?.backoff).toEqual(backoff);
  });

  it('is read so as the default of a queue as well', async () => {
    const { holdfast, server } = test;
    await holdfast.queues.upsert('of-sql', {});
    const defaults = JSON.stringify({ retry: JSON.parse(json) as unknown });
    await server.database.execute(
      `update holdfast.queues set job_defaults = '${defaults}' where name = 'of-sql'`,
    );
    const { backoff } = await holdfast.queues.get('of-sql');
    expect(backoff).toMatchObject({ kind: 'exponential', baseMs: 5_000 });
  });
});
