import {
  Holdfast,
  JobNotFoundError,
  JobNotInStateError,
  WaitTimeoutError,
  createWorker,
  defineJob,
} from 'holdfast';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { missingId } from './support/missing-id.ts';
import { openHoldfast } from './support/open-holdfast.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

describe('a job by its id', () => {
  it('is read with everything', async () => {
    const { id } = await holdfast.enqueue('any', { a: 1 }, { delay: '1h', tags: ['x'] });
    const job = await holdfast.get(id);
    expect(job).toMatchObject({
      id,
      type: 'any',
      queue: 'default',
      status: 'scheduled',
      payload: { a: 1 },
      tags: ['x'],
      attempt: 0,
      maxAttempts: 5,
      timeoutMs: 300_000,
      ...{ retry: 'automatic', backoff: { kind: 'exponential', baseMs: 5_000 }, waitingOn: 0 },
      ...{ retryUntil: undefined, maxExceptions: undefined },
      ...{ claimedAt: undefined, lockExpiresAt: undefined },
    });
    expect(job.runAt?.getTime()).toBeGreaterThan(job.createdAt.getTime());
  });

  it('is missing when there is none', async () => {
    await expect(holdfast.get(missingId)).rejects.toThrow(JobNotFoundError);
    await expect(holdfast.cancel(missingId)).rejects.toThrow(JobNotFoundError);
    await expect(holdfast.wait(missingId)).rejects.toThrow(JobNotFoundError);
    await expect(holdfast.get('17')).rejects.toThrow(/UUID/);
  });

  it('is cancelled once', async () => {
    const { id } = await holdfast.enqueue('any');
    expect(await holdfast.cancel(id, { reason: 'no' })).toEqual({ outcome: 'cancelled' });
    expect(await holdfast.get(id)).toMatchObject({ status: 'cancelled', reason: 'no' });
    await expect(holdfast.cancel(id)).rejects.toMatchObject({
      code: 'job_not_in_state',
      status: 'cancelled',
    });
  });

  it('is cancelled as soon as its handler lets go of its row', async () => {
    let noteTry = (): void => undefined;
    const hasTried = new Promise<void>((resolve) => (noteTry = resolve));
    const quiet = (): void => undefined;
    const logger = { debug: quiet, info: quiet, error: quiet, warn: () => noteTry() };
    await using canceller = new Holdfast({ connectionString: test.server.url, logger });
    let noteLock = (): void => undefined;
    const isLocked = new Promise<void>((resolve) => (noteLock = resolve));
    const careful = defineJob({
      type: 'careful',
      run: async (_payload, { signal, assertLease }) => {
        const client = new pg.Client(test.server.url);
        await client.connect();
        await client.query('begin');
        await assertLease(client);
        noteLock();
        await hasTried;
        await client.query('commit');
        await client.end();
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('told to end')));
        });
      },
    });
    await using worker = createWorker({ holdfast, jobs: [careful] });
    await worker.start();
    const { id } = await holdfast.enqueue(careful, 1);
    await isLocked;
    expect(await canceller.cancel(id)).toEqual({ outcome: 'requested' });
    expect(await holdfast.wait(id, { timeout: '45s' })).toMatchObject({ status: 'cancelled' });
  });

  it('is put back into the line by hand', async () => {
    const { id } = await holdfast.enqueue('any', 1, { delay: '1h' });
    await holdfast.runNow(id);
    expect(await holdfast.get(id)).toMatchObject({ status: 'queued' });
    await expect(holdfast.runNow(id)).rejects.toThrow(JobNotInStateError);
    await expect(holdfast.replay(id)).rejects.toThrow(JobNotInStateError);
    await expect(holdfast.retry(id)).rejects.toThrow(JobNotInStateError);
  });

  it('is retried after a failure, and replayed after its death', async () => {
    let isBroken = true;
    const run = () => {
      if (isBroken) throw new Error('broken');
      return 'mended';
    };
    const manual = defineJob({ type: 'manual', retry: 'manual', run });
    const mortal = defineJob({ type: 'mortal', maxAttempts: 1, run });
    await using worker = createWorker({ holdfast, jobs: [manual, mortal] });
    await worker.start();
    const first = await holdfast.enqueue(manual);
    const second = await holdfast.enqueue(mortal);
    expect(await holdfast.wait(first.id)).toMatchObject({ status: 'failed' });
    expect(await holdfast.wait(second.id)).toMatchObject({ status: 'dead_letter' });
    isBroken = false;
    await holdfast.retry(first.id);
    await holdfast.replay(second.id);
    expect(await holdfast.wait(first.id)).toMatchObject({ result: 'mended', generation: 1 });
    expect(await holdfast.wait(second.id)).toMatchObject({ result: 'mended', generation: 1 });
  });

  it('is waited for no longer than asked', async () => {
    const { id } = await holdfast.enqueue('nobody');
    const call = holdfast.wait(id, { timeout: 30 });
    await expect(call).rejects.toThrow(WaitTimeoutError);
    // Whether a first look came back in time, and told the status, is the machine's affair.
    await expect(call).rejects.toMatchObject({ code: 'wait_timed_out', jobId: id });
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(holdfast.wait(id, { signal })).rejects.toThrow('gone');
  });
});

describe('queues', () => {
  it('are made, changed and listed', async () => {
    await holdfast.queues.upsert('mail', { concurrency: 4, timeout: '10s' });
    const queue = await holdfast.queues.upsert('mail', { maxAttempts: 9 });
    expect(queue).toMatchObject({
      name: 'mail',
      concurrency: 4,
      ...{ timeoutMs: 10_000, maxAttempts: 9, retry: 'automatic', paused: undefined },
      ...{ backoff: { kind: 'exponential', baseMs: 5_000 }, oldestWaitMs: undefined },
    });
    expect(await holdfast.queues.upsert('mail', { concurrency: null })).toMatchObject({
      concurrency: undefined,
    });
    const names = (await holdfast.queues.list()).map(({ name }) => name);
    expect(names).toContain('mail');
    const { id } = await holdfast.enqueue('any', 1, { queue: 'mail' });
    expect(await holdfast.get(id)).toMatchObject({ maxAttempts: 9, timeoutMs: 10_000 });
    const { counts, oldestWaitMs } = await holdfast.queues.get('mail');
    expect(counts).toMatchObject({ queued: 1, deadLetter: 0 });
    expect(oldestWaitMs).toBeGreaterThanOrEqual(0);
  });

  it('keep an end and a limit of exceptions until null takes them away', async () => {
    const end = new Date('2030-01-01T00:00:00Z');
    const limits = { retryUntil: '1h', maxExceptions: 2 } as const;
    const first = await holdfast.queues.upsert('limited', limits);
    expect(first).toMatchObject({ retryUntil: 3_600_000, maxExceptions: 2 });
    const { id } = await holdfast.enqueue('any', 1, { queue: 'limited' });
    const job = await holdfast.get(id);
    expect(job).toMatchObject({ retry: 'automatic', maxExceptions: 2 });
    expect(job.retryUntil).toEqual(new Date(job.createdAt.getTime() + 3_600_000));
    const second = await holdfast.queues.upsert('limited', { retryUntil: end });
    expect(second).toMatchObject({ retryUntil: end, maxExceptions: 2 });
    expect(
      await holdfast.queues.upsert('limited', { retryUntil: null, maxExceptions: null }),
    ).toMatchObject({ retryUntil: undefined, maxExceptions: undefined });
  });

  it('are paused and resumed', async () => {
    const job = defineJob({ type: 'stopped', queue: 'gate', run: () => 1 });
    await using worker = createWorker({ holdfast, jobs: [job] });
    await worker.start();
    await holdfast.queues.pause('gate', { reason: 'closed', by: 'ada' });
    const { id } = await holdfast.enqueue(job);
    expect(await holdfast.queues.get('gate')).toMatchObject({
      paused: { reason: 'closed', by: 'ada', until: undefined },
    });
    await expect(holdfast.wait(id, { timeout: 100 })).rejects.toThrow(WaitTimeoutError);
    await holdfast.queues.resume('gate');
    expect(await holdfast.wait(id, { timeout: '45s' })).toMatchObject({ status: 'completed' });
  });

  it('refuse wrong settings and unknown names', async () => {
    await expect(holdfast.queues.upsert('a b', { concurrency: 0 })).rejects.toThrow(
      /name must be.*concurrency must be/,
    );
    await expect(holdfast.queues.get('none')).rejects.toMatchObject({ code: 'queue_not_found' });
    await expect(holdfast.queues.resume('none')).rejects.toMatchObject({ code: 'queue_not_found' });
  });
});

describe('schedules', () => {
  const report = defineJob({
    type: 'report',
    queue: 'reports',
    payload: z.object({ kind: z.enum(['daily', 'weekly']) }),
    run: ({ kind }) => kind,
  });

  it('are made once, and upserts without a change change nothing', async () => {
    const input = {
      name: 'daily-report',
      cron: '0 6 * * *',
      timezone: 'europe/berlin',
      job: report.with({ kind: 'daily' }, { priority: 1 }),
    } as const;
    const first = await holdfast.schedules.upsert(input);
    expect(first).toMatchObject({
      name: 'daily-report',
      ...{ cron: '0 6 * * *', everyMs: undefined, timezone: 'Europe/Berlin' },
      job: { type: 'report', queue: 'reports', payload: { kind: 'daily' }, priority: 1 },
      catchUp: 'latest',
      overlap: 'skip',
    });
    const again = await holdfast.schedules.upsert(input);
    expect(again.id).toBe(first.id);
    expect(again.nextFireAt).toEqual(first.nextFireAt);
    const every = { name: 'often', every: '1h', job: report.with({ kind: 'weekly' }) } as const;
    const often = await holdfast.schedules.upsert(every);
    expect(often).toMatchObject({ cron: undefined, everyMs: 3_600_000, timezone: 'UTC' });
    expect((await holdfast.schedules.upsert(every)).nextFireAt).toEqual(often.nextFireAt);
    const names = (await holdfast.schedules.list()).map(({ name }) => name);
    expect(names).toEqual(['daily-report', 'often']);
  });

  it('run now, are paused, resumed and deleted', async () => {
    const { schedules } = holdfast;
    await using worker = createWorker({ holdfast, jobs: [report] });
    await worker.start();
    await schedules.upsert({ name: 'mine', every: '1d', job: report.with({ kind: 'weekly' }) });
    const { jobId } = await schedules.runNow('mine');
    expect(await holdfast.wait(jobId)).toMatchObject({ result: 'weekly' });
    await schedules.pause('mine', { reason: 'holiday' });
    expect(await schedules.get('mine')).toMatchObject({ paused: { reason: 'holiday', by: 'sdk' } });
    await schedules.resume('mine');
    expect(await schedules.get('mine')).toMatchObject({ paused: undefined });
    expect(await schedules.delete('mine')).toBe(true);
    expect(await schedules.delete('mine')).toBe(false);
    await expect(schedules.runNow('mine')).rejects.toMatchObject({ code: 'schedule_not_found' });
  });

  it('fire in a worker with maintenance', async () => {
    await using worker = createWorker({ holdfast, jobs: [report] });
    const processed = new Promise((resolve) => {
      holdfast.on('JobProcessed', ({ type }) => {
        if (type === 'report') resolve('processed');
      });
    });
    await worker.start();
    await holdfast.schedules.upsert({
      name: 'each-second',
      every: '1s',
      job: report.with({ kind: 'daily' }),
    });
    expect(await processed).toBe('processed');
    await holdfast.schedules.delete('each-second');
  });

  it('are refused with a wrong time, payload or option', async () => {
    const { schedules } = holdfast;
    const job = report.with({ kind: 'daily' });
    await expect(schedules.upsert({ name: 'x', cron: '61 * * * *', job })).rejects.toMatchObject({
      code: 'cron_invalid',
    });
    await expect(
      schedules.upsert({ name: 'x', cron: '1 * * * *', timezone: 'Mars/Base', job }),
    ).rejects.toMatchObject({ code: 'timezone_invalid' });
    await expect(
      // @ts-expect-error as a caller in plain JavaScript
      schedules.upsert({ name: 'x', every: '1h', job: report.with({ kind: 'hourly' }) }),
    ).rejects.toMatchObject({ code: 'payload_invalid' });
    await expect(
      schedules.upsert({ name: 'x', job: report.with({ kind: 'daily' }, { delay: '1s' }) }),
    ).rejects.toThrow(/either cron or every.*cannot have delay/);
  });
});
