import { waitFor } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { HoldfastEvent, JobContext, JobDefinition } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
const logged: { readonly message: string }[] = [];

beforeAll(async () => {
  const note = (fields: object, message: string) => void logged.push({ ...fields, message });
  const quiet = () => undefined;
  test = await openHoldfast({ logger: { debug: quiet, info: quiet, warn: quiet, error: note } });
});
afterAll(() => test.close());

const names = [
  ...(['JobQueued', 'JobScheduled', 'JobDeduplicated', 'JobProcessing', 'JobProcessed'] as const),
  ...(['JobExceptionOccurred', 'JobReleased', 'JobFailed', 'JobTimedOut'] as const),
  ...(['JobCancelled', 'QueuePaused', 'QueueResumed'] as const),
] satisfies HoldfastEvent[];

/** Everything that is told from now on, worker events aside. */
function listen() {
  const heard: { readonly event: HoldfastEvent; readonly data: object }[] = [];
  const stops = names.map((event) =>
    test.holdfast.on(event, (data) => void heard.push({ event, data })),
  );
  return {
    heard,
    names: () => heard.map(({ event }) => event),
    until: (event: HoldfastEvent) =>
      waitFor(`${event} is told`, () => heard.find((each) => each.event === event)?.data),
    close: () => {
      for (const stop of stops) stop();
    },
  };
}

async function withWorker(job: JobDefinition, use: () => Promise<void>): Promise<void> {
  const { holdfast } = test;
  await using worker = createWorker({ holdfast, jobs: [job], maintenance: false });
  await worker.start();
  await use();
}

describe('listeners in the process', () => {
  it('hear of a job from the enqueue to its end', async () => {
    const job = defineJob({ type: 'heard', queue: 'ears', run: (n: number) => n });
    const ears = listen();
    // Before there is a worker, which may be quicker than the answer.
    const { id } = await test.holdfast.enqueue(job, 1);
    await withWorker(job, async () => {
      await ears.until('JobProcessed');
      const about = { jobId: id, type: 'heard', queue: 'ears' };
      expect(ears.heard).toMatchObject([
        { event: 'JobQueued', data: about },
        { event: 'JobProcessing', data: { ...about, attempt: 1, executionSeq: 1 } },
        { event: 'JobProcessed', data: { ...about, attempt: 1, executionSeq: 1 } },
      ]);
    });
    ears.close();
  });

  it('hear of exceptions, retries and the death of a job', async () => {
    const job = defineJob({
      type: 'doomed',
      maxAttempts: 2,
      backoff: 0,
      run: () => {
        throw Object.assign(new Error('no'), { code: 'nope' });
      },
    });
    const ears = listen();
    await withWorker(job, async () => {
      const { id } = await test.holdfast.enqueue(job);
      expect(await ears.until('JobExceptionOccurred')).toMatchObject({
        attempt: 1,
        error: { code: 'nope', message: 'no' },
        nextDelayMs: 0,
      });
      await test.holdfast.runNow(id);
      expect(await ears.until('JobFailed')).toMatchObject({
        jobId: id,
        attempt: 2,
        reason: 'attempts_exhausted',
        error: { code: 'nope' },
      });
      expect(ears.names().filter((name) => name === 'JobExceptionOccurred')).toHaveLength(2);
    });
    ears.close();
  });

  it('hear of an exception only, where a person decides', async () => {
    const job = defineJob({
      type: 'resting',
      retry: 'manual',
      run: () => {
        throw new Error('no');
      },
    });
    const ears = listen();
    await withWorker(job, async () => {
      const { id } = await test.holdfast.enqueue(job);
      expect(await ears.until('JobExceptionOccurred')).toMatchObject({
        ...{ jobId: id, attempt: 1, nextDelayMs: undefined },
      });
      expect(await test.holdfast.wait(id)).toMatchObject({ status: 'failed' });
      expect(ears.names()).not.toContain('JobFailed');
    });
    ears.close();
  });

  it.each([
    ['JobReleased', (ctx: JobContext) => ctx.release('1h', 'later'), { nextDelayMs: 3_600_000 }],
    [
      'JobTimedOut',
      (ctx: JobContext) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
      { error: { code: 'timed_out' } },
    ],
  ] as const)('hear of %s', async (event, run, data) => {
    const job = defineJob({
      type: `hear.${event}`,
      timeout: 200,
      run: (_payload: unknown, ctx) => run(ctx),
    });
    const ears = listen();
    await withWorker(job, async () => {
      await test.holdfast.enqueue(job);
      expect(await ears.until(event)).toMatchObject(data);
    });
    ears.close();
  });

  it('hear of what the caller does: delays, duplicates, cancels, pauses', async () => {
    const ears = listen();
    const { id } = await test.holdfast.enqueue('quiet', 1, { delay: '1h' });
    await test.holdfast.enqueue('quiet', 1, { id });
    await test.holdfast.cancel(id, { reason: 'not wanted' });
    await test.holdfast.queues.pause('quiet', { reason: 'maintenance' });
    await test.holdfast.queues.resume('quiet');
    expect(ears.heard).toMatchObject([
      { event: 'JobScheduled', data: { jobId: id } },
      { event: 'JobDeduplicated', data: { jobId: id } },
      { event: 'JobCancelled', data: { jobId: id, reason: 'not wanted' } },
      { event: 'QueuePaused', data: { queue: 'quiet', reason: 'maintenance' } },
      { event: 'QueueResumed', data: { queue: 'quiet' } },
    ]);
    ears.close();
  });

  it('hear of the cancel of a job that runs here', async () => {
    const job = defineJob({
      type: 'cancelled.here',
      run: (_payload: unknown, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    const ears = listen();
    await withWorker(job, async () => {
      const { id } = await test.holdfast.enqueue(job);
      await waitFor('it runs', async () => (await test.holdfast.get(id)).status === 'running');
      expect(await test.holdfast.cancel(id)).toEqual({ outcome: 'requested' });
      expect(await ears.until('JobCancelled')).toMatchObject({ jobId: id });
    });
    ears.close();
  });

  it('hear of the worker itself', async () => {
    const { holdfast } = test;
    const job = defineJob({ type: 'calm', run: () => 1 });
    const heard: unknown[] = [];
    const worker = createWorker({ holdfast, jobs: [job], concurrency: 3, maintenance: false });
    worker.on('WorkerStarted', (data) => void heard.push(data));
    worker.on('WorkerStopping', (data) => void heard.push(data));
    await worker.start();
    await worker.stop();
    expect(heard).toMatchObject([
      { types: ['calm'], queues: undefined, concurrency: 3 },
      { workerId: expect.any(String) as string },
    ]);
  });

  it('hurt nobody when they throw or reject, and do not hear after they are taken away', async () => {
    const job = defineJob({ type: 'unhurt', run: () => 'fine' });
    let calls = 0;
    const stops = [
      test.holdfast.on('JobProcessing', () => {
        calls += 1;
        throw new Error('listener 1');
      }),
      test.holdfast.on('JobQueued', () => Promise.reject(new Error('listener 2'))),
    ];
    await withWorker(job, async () => {
      const first = await test.holdfast.enqueue(job);
      expect(await test.holdfast.wait(first.id)).toMatchObject({ result: 'fine' });
      for (const stop of stops) stop();
      const second = await test.holdfast.enqueue(job);
      await test.holdfast.wait(second.id);
    });
    expect(calls).toBe(1);
    const failures = logged.filter(({ message }) => message === 'event listener failed');
    // The worker may be quicker than the answer to the enqueue.
    expect(failures).toHaveLength(2);
    for (const event of ['JobQueued', 'JobProcessing']) {
      expect(failures).toContainEqual(expect.objectContaining({ event }));
    }
  });
});

describe('middleware around an enqueue', () => {
  it('changes jobs, single and bulk, and sees the results', async () => {
    const { holdfast, close } = await openHoldfast();
    const seen: unknown[] = [];
    holdfast
      .use(async (jobs, next) => {
        const results = await next(
          jobs.map((job) => ({
            ...job,
            options: { ...job.options, metadata: { ...job.options.metadata, trace: 't1' } },
          })),
        );
        seen.push(results.length);
        return results;
      })
      .use((jobs, next) => next(jobs.map((job) => ({ ...job, payload: { sealed: job.payload } }))));
    const { id } = await holdfast.enqueue('any', 1, { metadata: { tenant: 'a' } });
    const { ids } = await holdfast.enqueueMany('any', [2, 3]);
    expect(await holdfast.get(id)).toMatchObject({
      payload: { sealed: 1 },
      metadata: { tenant: 'a', trace: 't1' },
    });
    expect(await holdfast.get(ids[1] ?? '')).toMatchObject({ payload: { sealed: 3 } });
    expect(seen).toEqual([1, 2]);
    await close();
  });

  it('may refuse jobs, which are not written then', async () => {
    const { holdfast, close } = await openHoldfast();
    holdfast.use(() => Promise.reject(new Error('quota used up')));
    await expect(holdfast.enqueue('any')).rejects.toThrow('quota used up');
    expect(await holdfast.queues.list()).toEqual([]);
    await close();
  });
});
