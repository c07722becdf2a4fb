import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { ask } from './support/records.ts';
import { useArena } from './support/use-arena.ts';

const slots = 10;

const arena = useArena();

it('gives back what does not end within the grace and what has not started, and exits with 0', async () => {
  const leaving = await arena().startWorker({
    HOLDFAST_CONCURRENCY: String(slots),
    // Time enough for handlers that end at the signal, on any machine.
    HOLDFAST_DRAIN_TIMEOUT: '5s',
  });
  const gated = (type: string) => ({ type, payload: { gate: 'end' } });
  // Many short jobs in front make the worker claim ahead, so that it holds jobs which it has not started.
  await arena().enqueue([
    ...many(500, { type: 'quick' }),
    ...many(4, { type: 'until_sigterm' }),
    ...many(3, gated('hold')),
    ...many(3, gated('stubborn')),
    ...many(100, gated('hold')),
  ]);
  await waitFor('every slot is taken by a long job', longJobsRun, { timeoutMs: 60_000 });
  await waitFor('it holds others', async () => (await arena().countIn('claimed')) > 0);
  leaving.kill('SIGTERM');
  expect(await leaving.exited).toEqual({ code: 0, signal: null });

  expect(await arena().countIn('claimed')).toBe(0);
  expect(await arena().countIn('running')).toBe(0);
  const { jobs, executions } = await arena().records();
  const returned = executions.filter(({ status }) => status === 'returned');
  const interrupted = returned.filter(({ startedAtMs }) => startedAtMs !== null);
  expect(interrupted).toHaveLength(6);
  expect(returned.length).toBeGreaterThan(6);
  for (const { jobId, reason, attempt } of returned) {
    expect({ reason, attempt }).toEqual({ reason: 'drain', attempt: 1 });
    const job = jobs.find(({ id }) => id === jobId);
    expect(job).toMatchObject({ status: 'queued', attempt: 0, executionSeq: 1, crashCount: 0 });
  }
  const written = jobs.filter(({ type }) => type === 'until_sigterm');
  expect(written.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
  expect(await workerStatuses()).toEqual(['stopped']);

  arena().openGate('end');
  const next = await arena().startWorker();
  const after = await arena().untilQuiet();
  for (const { jobId, executionSeq } of returned) {
    expect(executionSeq).toBe(1);
    const job = after.jobs.find(({ id }) => id === jobId);
    expect(job).toMatchObject({ status: 'completed', attempt: 1, executionSeq: 2 });
    expect(job?.result).toEqual({ executionSeq: 2, workerPid: next.pid });
  }
  expect(await arena().check()).toEqual([]);
});

it('leaves at once when it is told a second time, and its jobs come back without a used attempt', async () => {
  const impatient = await arena().startWorker();
  await arena().enqueue(many(5, { type: 'hold', payload: { gate: 'end' } }));
  await waitFor('all jobs run', () => arena().countIn('running', 5));
  impatient.kill('SIGTERM');
  await impatient.waitForOutput(/"stopping"/);
  impatient.kill('SIGTERM');
  expect(await impatient.exited).toEqual({ code: 143, signal: null });
  expect(await arena().countIn('running')).toBe(5);

  arena().openGate('end');
  await arena().startWorker();
  await arena().startScheduler();
  const { jobs } = await arena().untilQuiet();
  for (const job of jobs) {
    expect(job).toMatchObject({ status: 'completed', attempt: 1, executionSeq: 2 });
  }
  expect(await arena().check()).toEqual([]);
});

async function longJobsRun(): Promise<boolean> {
  const { jobs } = await arena().records();
  const running = jobs.filter(({ type, status }) => type !== 'quick' && status === 'running');
  const isShortLeft = jobs.some(({ type, status }) => type === 'quick' && status !== 'completed');
  return running.length === slots && !isShortLeft;
}

function many<T>(count: number, job: T): readonly T[] {
  return Array.from({ length: count }, () => job);
}

async function workerStatuses(): Promise<readonly string[]> {
  const sql = 'select status from holdfast.workers';
  const rows = await ask<{ readonly status: string }>(arena().database, sql);
  return rows.map(({ status }) => status);
}
