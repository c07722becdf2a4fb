import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { leaseMs } from './support/arena.ts';
import { useArena } from './support/use-arena.ts';

const jobCount = 20;
/** The reaper looks at least this often. */
const longestTickMs = 10_000;

const arena = useArena();

it('runs all 20 jobs of a killed worker again, without a used attempt', async () => {
  await arena().startScheduler();
  const victim = await arena().startWorker({ HOLDFAST_CONCURRENCY: String(jobCount) });
  const ids = await arena().enqueue(
    Array.from({ length: jobCount }, () => ({ type: 'hold', payload: { gate: 'second run' } })),
  );
  await waitFor('the worker runs them all', () => arena().countIn('running', jobCount));
  victim.kill('SIGKILL');
  expect((await victim.exited).signal).toBe('SIGKILL');
  arena().openGate('second run');
  const heir = await arena().startWorker();
  const { jobs, executions } = await arena().untilQuiet();

  expect(jobs.map(({ id }) => id).sort()).toEqual([...ids].sort());
  for (const job of jobs) {
    expect(job).toMatchObject({ status: 'completed', attempt: 1, executionSeq: 2, crashCount: 1 });
    expect(job.result).toEqual({ executionSeq: 2, workerPid: heir.pid });
    const [first, second] = executions.filter(({ jobId }) => jobId === job.id);
    expect(first).toMatchObject({
      ...{ executionSeq: 1, attempt: 1, status: 'running', reason: 'lease_expired' },
      ...{ workerPid: victim.pid, finishedAtMs: null },
    });
    expect(first?.startedAtMs).not.toBeNull();
    expect(first?.leaseLostAtMs).not.toBeNull();
    expect(second).toMatchObject({ executionSeq: 2, attempt: 1, status: 'completed' });
    // The last heartbeat may have come at any moment up to the end of the lease before this one.
    const takenAwayAfterMs = Number(first?.recordedAtMs) - Number(first?.leaseLostAtMs);
    expect(takenAwayAfterMs).toBeLessThanOrEqual(longestTickMs);
    const lostAfterMs = Number(first?.leaseLostAtMs) - Number(first?.claimedAtMs);
    expect(lostAfterMs).toBeGreaterThanOrEqual(leaseMs);
  }
  expect(await arena().check()).toEqual([]);
});
