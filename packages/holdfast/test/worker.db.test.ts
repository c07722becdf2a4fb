import { waitFor } from '@holdfast/testing';
import {
  ConfigError,
  NonRetryableError,
  PayloadInvalidError,
  RetryableError,
  createWorker,
  defineJob,
} from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openHoldfast } from './support/open-holdfast.ts';
import { query } from './support/stored-rows.ts';
import type { Job, JobContext } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;

beforeAll(async () => {
  test = await openHoldfast();
});
afterAll(() => test.close());

let typeCount = 0;

/** Runs one job of a type of its own to its end, or to the condition. */
async function runOne(
  run: (payload: unknown, ctx: JobContext) => unknown,
  more: {
    readonly payload?: unknown;
    readonly maxAttempts?: number;
    readonly until?: (job: Job) => boolean;
  } = {},
): Promise<Job> {
  typeCount += 1;
  const { holdfast } = test;
  const job = defineJob({ type: `one.${String(typeCount)}`, maxAttempts: more.maxAttempts, run });
  await using worker = createWorker({ holdfast, jobs: [job], maintenance: false });
  await worker.start();
  const { id } = await holdfast.enqueue(job, more.payload);
  const { until } = more;
  if (until === undefined) return await holdfast.wait(id, { timeout: '45s' });
  return await waitFor('the job is as wanted', async () => {
    const found = await holdfast.get(id);
    return until(found) && found;
  });
}

async function executionsOf(id: string) {
  const text = 'select status, reason, next_delay_ms::integer, error from holdfast.job_executions';
  return query(test.server.url, `${text} where job_id = $1 order by execution_seq`, [id]);
}

describe('a worker', () => {
  it('runs a job and keeps its result', async () => {
    const job = await runOne((payload) => ({ got: payload }), { payload: { name: 'Ada' } });
    expect(job).toMatchObject({
      status: 'completed',
      result: { got: { name: 'Ada' } },
      attempt: 1,
    });
  });

  it('hands the handler what the schema makes of the payload', async () => {
    const seen: unknown[] = [];
    const job = defineJob({
      type: 'dated',
      payload: z.object({ at: z.coerce.date(), tone: z.string().default('kind') }),
    });
    await using worker = createWorker({ holdfast: test.holdfast });
    worker.handle(job, (payload) => void seen.push(payload));
    await worker.start();
    const { id } = await test.holdfast.enqueue(job, { at: '2026-01-01T00:00:00Z' });
    expect(await test.holdfast.wait(id)).toMatchObject({
      status: 'completed',
      payload: { at: '2026-01-01T00:00:00Z' },
    });
    expect(seen).toEqual([{ at: new Date('2026-01-01T00:00:00Z'), tone: 'kind' }]);
  });

  it('makes a dead letter of a payload that does not fit, without calling the handler', async () => {
    let calls = 0;
    const job = defineJob({
      type: 'strict',
      payload: z.object({ count: z.number() }),
      run: () => void (calls += 1),
    });
    await using worker = createWorker({ holdfast: test.holdfast, jobs: [job] });
    await worker.start();
    const { id } = await test.holdfast.enqueue('strict', { count: 'many' });
    const ended = await test.holdfast.wait(id);
    expect(ended).toMatchObject({ status: 'dead_letter', attempt: 1, reason: 'non_retryable' });
    expect(ended.lastError).toMatchObject({ code: 'payload_invalid' });
    expect(ended.lastError?.message).toContain('/count');
    expect(calls).toBe(0);
  });

  it('claims only the types that it has handlers for', async () => {
    const { id } = await test.holdfast.enqueue('nobody.knows');
    await runOne(() => 1);
    expect(await test.holdfast.get(id)).toMatchObject({ status: 'queued', attempt: 0 });
  });

  it('promotes delayed jobs itself', async () => {
    const job = defineJob({ type: 'later', run: () => 'done' });
    await using worker = createWorker({ holdfast: test.holdfast, jobs: [job] });
    await worker.start();
    const { id } = await test.holdfast.enqueue(job, undefined, { delay: 200 });
    expect(await test.holdfast.wait(id, { timeout: '45s' })).toMatchObject({ result: 'done' });
  });

  it('serves the queues that it is told', async () => {
    const job = defineJob({ type: 'placed', run: () => 1 });
    const elsewhere = await test.holdfast.enqueue(job, undefined, { queue: 'cellar' });
    await using worker = createWorker({ holdfast: test.holdfast, jobs: [job], queues: ['attic'] });
    await worker.start();
    const here = await test.holdfast.enqueue(job, undefined, { queue: 'attic' });
    await test.holdfast.wait(here.id, { timeout: '45s' });
    expect(await test.holdfast.get(elsewhere.id)).toMatchObject({ status: 'queued' });
  });

  it('does not start without a handler for each job, and names those that miss', async () => {
    const job = defineJob({ type: 'bare' });
    const worker = createWorker({ holdfast: test.holdfast, jobs: [job] });
    await expect(worker.start()).rejects.toThrow(ConfigError);
    await expect(createWorker({ holdfast: test.holdfast }).start()).rejects.toThrow('no jobs');
    expect(() => worker.handle(job, () => 1).handle(job, () => 2)).toThrow(/"bare" has a handler/);
  });

  it('refuses options that do not fit', () => {
    const make = () =>
      createWorker({
        holdfast: test.holdfast,
        heartbeat: '20s',
        concurrency: 0,
        // @ts-expect-error as a caller in plain JavaScript
        concurency: 3,
      });
    expect(make).toThrow(/did you mean "concurrency".*heartbeat must be less than half/);
  });

  it('waits for running handlers when it stops, and gives up those that take too long', async () => {
    const { holdfast } = test;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const job = defineJob({ type: 'slow', run: () => gate });
    const worker = createWorker({ holdfast, jobs: [job] });
    await worker.start();
    const { id } = await holdfast.enqueue(job);
    await waitFor('it runs', async () => (await holdfast.get(id)).status === 'running');
    const stopping = worker.stop();
    release();
    await stopping;
    expect(await holdfast.get(id)).toMatchObject({ status: 'completed' });

    const stubborn = defineJob({ type: 'stubborn', run: () => new Promise(() => undefined) });
    const other = createWorker({ holdfast, jobs: [stubborn] });
    await other.start();
    const second = await holdfast.enqueue(stubborn);
    await waitFor('it runs', async () => (await holdfast.get(second.id)).status === 'running');
    await other.stop({ timeout: 10 });
    expect(await holdfast.get(second.id)).toMatchObject({ status: 'queued', attempt: 0 });
  });
});

describe('the context of a handler', () => {
  it('writes the log in either order of fields and message', async () => {
    const job = await runOne((_payload, { log }) => {
      log.info({ invoiceId: 7 }, 'rendering');
      log.warn('slow', { ms: 3 });
      log.error('plain');
    });
    const lines = await query(
      test.server.url,
      'select level, message, fields from holdfast.job_logs where job_id = $1 order by line',
      [job.id],
    );
    expect(lines).toEqual([
      { level: 'info', message: 'rendering', fields: { invoiceId: 7 } },
      { level: 'warn', message: 'slow', fields: { ms: 3 } },
      { level: 'error', message: 'plain', fields: null },
    ]);
  });

  it('tells of the job, and keeps the progress', async () => {
    const job = await runOne(async (_payload, { progress, heartbeat, job: info, attempt }) => {
      await progress(40, 'rendered');
      await heartbeat();
      return { id: info.id, attempt };
    });
    expect(job.result).toEqual({ id: job.id, attempt: 1 });
  });

  it('releases without using an attempt', async () => {
    const job = await runOne((_payload, ctx) => ctx.release('1m', 'rate limited'), {
      until: ({ status }) => status === 'scheduled',
    });
    expect(job).toMatchObject({ attempt: 0, releaseCount: 1 });
    expect(await executionsOf(job.id)).toMatchObject([
      { status: 'released', reason: 'rate limited', next_delay_ms: 60_000 },
    ]);
  });

  it('fails for good with the error of the handler', async () => {
    const job = await runOne((_payload, ctx) => {
      ctx.fail(Object.assign(new Error('no such customer'), { code: 'customer_unknown' }), {
        retry: false,
      });
    });
    expect(job).toMatchObject({
      status: 'dead_letter',
      attempt: 1,
      lastError: { code: 'customer_unknown', message: 'no such customer' },
    });
    expect(job.lastError?.stack).toContain('worker.db.test');
  });

  it('fails with a wait of its own', async () => {
    const job = await runOne((_payload, { fail }) => fail(new Error('busy'), { delay: '7s' }), {
      until: ({ status }) => status === 'scheduled',
    });
    expect(await executionsOf(job.id)).toMatchObject([
      { status: 'failed', reason: 'retry_after', next_delay_ms: 7_000, error: { message: 'busy' } },
    ]);
  });

  it('enqueues other jobs', async () => {
    const job = await runOne((payload, { enqueue }) => enqueue('child', { of: payload }), {
      payload: 'parent',
    });
    const { id } = job.result as { id: string };
    expect(await test.holdfast.get(id)).toMatchObject({ payload: { of: 'parent' } });
  });

  it('has no metadata when there was none', async () => {
    const job = await runOne((_payload, ctx) => ({ metadata: ctx.job.metadata ?? 'none' }));
    expect(job.result).toEqual({ metadata: 'none' });
  });

  it('may be spread and taken apart', async () => {
    const job = await runOne(async (_, ctx) => {
      const { step, log, signal, job: info } = { ...ctx };
      log.info('apart');
      return [await step('apart', () => 1), signal.aborted, info.queue];
    });
    expect(job.result).toEqual([1, false, 'default']);
  });

  it('keeps the result of a step', async () => {
    const job = await runOne(
      async (_payload, { step, attempt }) => {
        const drawn = await step('draw', () => Math.random());
        if (attempt === 1) throw new RetryableError('once more', { retryAfterMs: 0 });
        return { drawn, again: await step('double', () => drawn * 2) };
      },
      { until: ({ status, attempt }) => status === 'scheduled' && attempt === 1 },
    );
    const [kept] = await query(
      test.server.url,
      'select name, result from holdfast.job_steps where job_id = $1',
      [job.id],
    );
    expect(kept).toMatchObject({ name: 'draw' });
  });
});

describe('an error', () => {
  it('that forbids a retry makes a dead letter', async () => {
    const job = await runOne(() => {
      throw new NonRetryableError('never', { code: 'never_works' });
    });
    expect(job).toMatchObject({ status: 'dead_letter', lastError: { code: 'never_works' } });
  });

  it('waits as the function of the type says', async () => {
    const { holdfast } = test;
    const failures: unknown[] = [];
    const job = defineJob({
      type: 'own.backoff',
      backoff: ({ attempt, error }) => {
        failures.push([attempt, error.code]);
        return `${String(attempt * 11)}s`;
      },
      run: () => {
        throw Object.assign(new Error('x'), { code: 'flaky' });
      },
    });
    await using worker = createWorker({ holdfast, jobs: [job], maintenance: false });
    await worker.start();
    const { id } = await holdfast.enqueue(job);
    await waitFor('it waits', async () => (await holdfast.get(id)).status === 'scheduled');
    expect(failures).toEqual([[1, 'flaky']]);
    expect(await executionsOf(id)).toMatchObject([{ reason: 'function', next_delay_ms: 11_000 }]);
  });

  it('of the worker itself makes a dead letter when the effects must not repeat', async () => {
    const { holdfast, server } = test;
    const pay = defineJob({ type: 'pay', onCrash: 'dead_letter', run: () => 'paid twice' });
    const { id } = await holdfast.enqueue(pay);
    // As the reaper leaves a job whose worker has died.
    await query(server.url, 'update holdfast.jobs set crash_count = 1 where id = $1', [id]);
    await using worker = createWorker({ holdfast, jobs: [pay], maintenance: false });
    await worker.start();
    expect(await holdfast.wait(id, { timeout: '45s' })).toMatchObject({
      status: 'dead_letter',
      lastError: { code: 'worker_lost' },
    });
  });

  it('heeds what a definition says of its failures, when its handler is given apart', async () => {
    const { holdfast, server } = test;
    const flaky = defineJob({ type: 'apart.flaky', backoff: () => '11s' });
    const pay = defineJob({ type: 'apart.pay', onCrash: 'dead_letter' });
    const paid = await holdfast.enqueue(pay);
    await query(server.url, 'update holdfast.jobs set crash_count = 1 where id = $1', [paid.id]);
    await using worker = createWorker({ holdfast, maintenance: false })
      .handle(flaky, () => Promise.reject(new Error('x')))
      .handle(pay, () => 'paid twice');
    await worker.start();
    const { id } = await holdfast.enqueue(flaky);
    await waitFor('it waits', async () => (await holdfast.get(id)).status === 'scheduled');
    expect(await executionsOf(id)).toMatchObject([{ reason: 'function', next_delay_ms: 11_000 }]);
    expect(await holdfast.wait(paid.id, { timeout: '45s' })).toMatchObject({
      lastError: { code: 'worker_lost' },
    });
  });

  it('of a payload has its path in the type of the error too', () => {
    const error = new PayloadInvalidError('mail', [{ pointer: '/to', message: 'is missing' }]);
    expect(error).toBeInstanceOf(NonRetryableError);
    expect(error.message).toBe('The payload of "mail" is not valid: /to: is missing');
  });
});

describe('middleware around a run', () => {
  it('sees payload and result, from the outside to the inside', async () => {
    const order: unknown[] = [];
    const job = defineJob({ type: 'wrapped', run: (payload: { n: number }) => payload.n });
    await using worker = createWorker({ holdfast: test.holdfast, jobs: [job] });
    worker
      .use(async ({ payload, ctx }, next) => {
        order.push(['outer', payload, ctx.job.type]);
        const result = await next();
        order.push(['result', result]);
        return result;
      })
      .use(({ payload }, next) => {
        order.push('inner');
        return next({ n: (payload as { n: number }).n + 1 });
      });
    await worker.start();
    const { id } = await test.holdfast.enqueue(job, { n: 1 });
    expect(await test.holdfast.wait(id)).toMatchObject({ result: 2 });
    expect(order).toEqual([['outer', { n: 1 }, 'wrapped'], 'inner', ['result', 2]]);
  });
});
