import { join } from 'node:path';
import { spawnProcess } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { SpawnedProcess } from '@holdfast/testing';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let worker: SpawnedProcess;

beforeAll(async () => {
  test = await openHoldfast();
  // A process of its own: threads run what is built, and the tests' own process runs the sources.
  worker = spawnProcess({
    script: join(import.meta.dirname, 'fixtures', 'thread-worker.mjs'),
    env: { DATABASE_URL: test.server.url },
  });
  await worker.waitForOutput(/started/);
});
afterAll(async () => {
  await worker.destroy();
  await test.close();
});

describe('a job that is isolated in a thread', () => {
  it('has its schema, its context and its result there', async () => {
    const { holdfast } = test;
    const { id } = await holdfast.enqueue('crunch', { at: '2031-02-03T00:00:00Z' });
    const job = await holdfast.wait(id, { timeout: '45s' });
    expect(job).toMatchObject({
      status: 'completed',
      result: { year: 2031, isThread: true, drawn: 7 },
    });
    expect(worker.output()).toContain('middleware {"at":"2031-02-03T00:00:00Z"}');
    const { child } = job.result as { child: string };
    expect(await holdfast.get(child)).toMatchObject({
      type: 'crunched',
      payload: { drawn: 7 },
      priority: 2,
      tags: ['from-thread'],
    });
  });

  it('is given older payloads upgraded, and enqueues by the versions of its definitions', async () => {
    const { holdfast } = test;
    const { id } = await holdfast.enqueue('graded', '5', { payloadVersion: 2 });
    const { result } = await holdfast.wait(id, { timeout: '20s' });
    expect(result).toMatchObject({ grade: 5, version: 2, refusal: 'options_invalid' });
    const { child } = result as { child: string };
    expect(await holdfast.get(child)).toMatchObject({ type: 'regraded', payloadVersion: 7 });
  });

  it('reads the results of its parents and how far its batch is', async () => {
    const { holdfast } = test;
    const crunch = defineJob<{ at: string }>({ type: 'crunch' });
    const weigh = defineJob<{ of: string }>({ type: 'weigh' });
    const chain = holdfast.chain([crunch.with({ at: '2031-02-03' }), weigh.with({ of: 'it' })]);
    const crunched = defineJob<object>({ type: 'crunched' });
    const { jobIds } = await chain.progress(crunched.with({}), { every: 50 }).enqueue();
    const { result } = await holdfast.wait(jobIds[1] ?? '', { timeout: '45s' });
    expect(result).toEqual({ drawn: 7, total: 2, hasDates: true, refusal: 'not_in_thread' });
  });

  it('becomes a dead letter when its payload does not fit', async () => {
    const { id } = await test.holdfast.enqueue('crunch', { at: 'never' });
    expect(await test.holdfast.wait(id, { timeout: '45s' })).toMatchObject({
      status: 'dead_letter',
      attempt: 1,
      lastError: { code: 'payload_invalid' },
    });
  });

  it('is refused without a module, and with a handler of its own', () => {
    const spin = defineJob({ type: 'spin', isolate: 'thread', module: import.meta.url });
    expect(() => createWorker({ holdfast: test.holdfast }).handle(spin, () => 1)).toThrow(
      /must be the run of its definition/,
    );
    expect(() => defineJob({ type: 'x', isolate: 'thread' })).toThrow(/needs module/);
  });
});
