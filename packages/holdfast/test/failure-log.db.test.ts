import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
const lines: unknown[] = [];

function note(level: string) {
  return (fields: Readonly<Record<string, unknown>>, message: string): void => {
    if ('jobId' in fields) lines.push([level, fields, message]);
  };
}

beforeAll(async () => {
  const logger = {
    ...{ debug: note('debug'), info: note('info') },
    ...{ warn: note('warn'), error: note('error') },
  };
  test = await openHoldfast({ logger });
});
afterAll(() => test.close());
beforeEach(() => {
  lines.length = 0;
});

it('a worker logs an attempt that is tried again as a warning, and a dead letter as an error', async () => {
  const { holdfast } = test;
  const job = defineJob({
    type: 'sinking',
    maxAttempts: 2,
    backoff: '1ms',
    run: (): void => {
      throw Object.assign(new Error('The sea is rough'), { code: 'rough_sea' });
    },
  });
  await using worker = createWorker({ holdfast, jobs: [job] });
  await worker.start();
  const { id } = await holdfast.enqueue(job);
  await holdfast.wait(id);
  // Ends are told of when they are stored, which a reader may see first.
  await worker.stop();
  const shared = {
    ...{ jobId: id, type: 'sinking', queue: 'default' },
    error: { code: 'rough_sea', message: 'The sea is rough' },
  };
  expect(lines).toEqual([
    [
      'warn',
      expect.objectContaining({ ...shared, attempt: 1, delayMs: 1 }),
      'attempt failed, the job is tried again',
    ],
    [
      'error',
      expect.objectContaining({ ...shared, attempt: 2, reason: 'attempts_exhausted' }),
      'attempt failed, the job is a dead letter',
    ],
  ]);
});

it('a worker logs no release and no cancel', async () => {
  const { holdfast } = test;
  let runs = 0;
  const patient = defineJob({
    type: 'patient',
    run(_payload, ctx) {
      runs += 1;
      return runs === 1 ? ctx.release('1ms') : undefined;
    },
  });
  const endless = defineJob({
    type: 'endless',
    run: async (_payload, ctx) => {
      await holdfast.cancel(ctx.job.id);
      await new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      });
    },
  });
  await using worker = createWorker({ holdfast, jobs: [patient, endless] });
  await worker.start();
  const jobs = [await holdfast.enqueue(patient), await holdfast.enqueue(endless)];
  const ended = await Promise.all(jobs.map(({ id }) => holdfast.wait(id)));
  await worker.stop();
  expect(ended).toMatchObject([{ status: 'completed', releaseCount: 1 }, { status: 'cancelled' }]);
  expect(lines).toEqual([]);
});
