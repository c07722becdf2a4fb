import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { useArena } from './support/use-arena.ts';

const jobCount = 3;

const arena = useArena();

it('ignores what a worker reports that was frozen beyond its leases, and lets it work on', async () => {
  await arena().startScheduler();
  const frozen = await arena().startWorker();
  // The first kind stops when it is told that the lease is lost, the second one ends as if nothing had been.
  const obedient = await arena().enqueue(manyOf({ type: 'hold', payload: { gate: 'early' } }));
  const stubborn = await arena().enqueue(manyOf({ type: 'stubborn', payload: { gate: 'late' } }));
  await waitFor('the worker runs them all', () => arena().countIn('running', 2 * jobCount));
  frozen.kill('SIGSTOP');
  await waitFor('the reaper took all jobs away', () => arena().countIn('queued', 2 * jobCount), {
    timeoutMs: 60_000,
  });
  arena().openGate('early');
  const heir = await arena().startWorker();
  await waitFor('another worker has completed some and runs one', async () => {
    const isRunning = await arena().countIn('running', 1);
    return isRunning && (await arena().countUnfinished()) === jobCount;
  });
  expect((await arena().records()).lateResults).toEqual([]);

  // Its first executions end now: of jobs that have completed, that run elsewhere, and that are in the queue.
  arena().openGate('late 1');
  frozen.kill('SIGCONT');
  const late = await waitFor(
    'all late results are kept',
    async () => {
      const { lateResults } = await arena().records();
      return lateResults.length === 2 * jobCount && lateResults;
    },
    { timeoutMs: 60_000 },
  );
  expect(await arena().countUnfinished()).toBe(jobCount);
  for (const { jobId, executionSeq, status, result } of late) {
    expect(executionSeq).toBe(1);
    if (obedient.includes(jobId)) continue;
    expect(stubborn).toContain(jobId);
    expect(status).toBe('completed');
    expect(result).toEqual({ executionSeq: 1, workerPid: frozen.pid });
  }

  arena().openGate('late');
  const { jobs } = await arena().untilQuiet();
  for (const job of jobs) {
    expect(job).toMatchObject({ status: 'completed', attempt: 1, executionSeq: 2 });
    expect(job.result).toMatchObject({ executionSeq: 2 });
  }
  heir.kill('SIGTERM');
  expect((await heir.exited).code).toBe(0);
  const more = await arena().enqueue(manyOf({ type: 'quick' }));
  const after = await arena().untilQuiet();
  for (const job of after.jobs.filter(({ id }) => more.includes(id))) {
    expect(job.result).toEqual({ executionSeq: 1, workerPid: frozen.pid });
  }
  expect(await arena().check()).toEqual([]);
});

function manyOf<T>(job: T): readonly T[] {
  return Array.from({ length: jobCount }, () => job);
}
