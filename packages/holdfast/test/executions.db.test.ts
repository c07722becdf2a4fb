import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingId } from './support/missing-id.ts';
import { openHoldfast } from './support/open-holdfast.ts';
import type { Holdfast, ListLogsOptions } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;
let id: string;

const flaky = defineJob({
  type: 'flaky',
  backoff: 1,
  run: (_payload: unknown, ctx) => {
    ctx.log.info('begins', { attempt: ctx.attempt });
    ctx.log.warn('goes on');
    if (ctx.attempt === 1) throw Object.assign(new Error('not yet'), { code: 'busy' });
    return 'done';
  },
});

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
  await using worker = createWorker({ holdfast, jobs: [flaky] });
  await worker.start();
  ({ id } = await holdfast.enqueue(flaky));
  await holdfast.wait(id);
});
afterAll(() => test.close());

describe('the executions of a job', () => {
  it('are every run with its error and its times, oldest first', async () => {
    const runs = await holdfast.executions(id);
    expect(runs).toMatchObject([
      {
        seq: 1,
        attempt: 1,
        generation: 0,
        status: 'failed',
        nextDelayMs: 1,
        leaseLostAt: undefined,
      },
      { seq: 2, attempt: 2, generation: 0, status: 'completed', error: undefined },
    ]);
    expect(runs[0]?.error).toMatchObject({ code: 'busy', message: 'not yet' });
    expect(runs[0]?.startedAt).toBeInstanceOf(Date);
    expect(runs[1]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(runs[1]?.workerId).toBe(runs[0]?.workerId);
  });

  it('are none before a worker has claimed it', async () => {
    const { id: waiting } = await holdfast.enqueue('nobody');
    expect(await holdfast.executions(waiting)).toEqual([]);
    expect(await holdfast.logs(waiting)).toEqual({ lines: [], nextCursor: undefined });
  });

  it('are missing with the job', async () => {
    const error = { code: 'job_not_found' };
    await expect(holdfast.executions(missingId)).rejects.toMatchObject(error);
    await expect(holdfast.logs(missingId)).rejects.toMatchObject(error);
    await expect(holdfast.executions('17')).rejects.toMatchObject({ code: 'options_invalid' });
  });
});

describe('the log of a job', () => {
  const textOf = async (options: ListLogsOptions = {}) => {
    const { lines } = await holdfast.logs(id, options);
    return lines.map(({ executionSeq, message }) => `${String(executionSeq)}: ${message}`);
  };

  it('is what its handlers wrote, oldest first', async () => {
    expect(await textOf()).toEqual(['1: begins', '1: goes on', '2: begins', '2: goes on']);
    const { lines, nextCursor } = await holdfast.logs(id);
    expect(lines[0]).toMatchObject({ level: 'info', fields: { attempt: 1 } });
    expect(lines[0]?.at).toBeInstanceOf(Date);
    expect(lines[1]).toMatchObject({ level: 'warn', fields: undefined });
    expect(nextCursor).toBeUndefined();
  });

  it('is that of one execution', async () => {
    expect(await textOf({ execution: 2 })).toEqual(['2: begins', '2: goes on']);
    expect(await textOf({ execution: 3 })).toEqual([]);
  });

  it('comes a page at a time', async () => {
    const first = await holdfast.logs(id, { limit: 3 });
    expect(first.lines).toHaveLength(3);
    const second = await holdfast.logs(id, { limit: 3, cursor: first.nextCursor });
    expect(second.lines.map(({ message }) => message)).toEqual(['goes on']);
    expect(second.nextCursor).toBeUndefined();
  });

  it.each([{ limit: 0 }, { limit: 201 }, { execution: 0 }, { cursor: 'x' }, { page: 2 }])(
    'cannot be read by %j',
    async (options) => {
      const read = holdfast.logs(id, options);
      await expect(read).rejects.toMatchObject({ code: 'options_invalid' });
    },
  );
});
