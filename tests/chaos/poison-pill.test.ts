import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { supervise, untilDied } from './support/supervise.ts';
import { useArena } from './support/use-arena.ts';

const arena = useArena();

it('buries a job that kills its worker after three crashes, and completes its neighbours', async () => {
  await arena().startScheduler({ HOLDFAST_LEASE: '2s' });
  const workers = [0, 1].map(() => supervise(() => arena().startWorker({ HOLDFAST_LEASE: '2s' })));
  const neighbours = await arena().enqueue(
    Array.from({ length: 5 }, () => ({ type: 'hold', payload: { gate: 'end' } })),
  );
  await waitFor('the neighbours run', () => arena().countIn('running', neighbours.length), {
    timeoutMs: 60_000,
  });
  const [pill = ''] = await arena().enqueue([{ type: 'poison' }]);
  const later = await arena().enqueue(Array.from({ length: 20 }, () => ({ type: 'quick' })));
  await waitFor('the pill has killed once', () => workers.some(({ deathCount }) => deathCount > 0));
  arena().openGate('end');
  const { jobs, executions } = await arena().untilQuiet();
  expect(await untilDied(workers, 3)).toBe(3);
  for (const worker of workers) await worker.stop();

  expect(jobs.find(({ id }) => id === pill)).toMatchObject({
    ...{ status: 'dead_letter', reason: 'poison_pill', crashCount: 3, executionSeq: 3 },
    ...{ lastError: { code: 'poison_pill' } },
  });
  const crashes = executions.filter(({ jobId }) => jobId === pill);
  expect(crashes).toHaveLength(3);
  for (const crash of crashes) expect(crash).toMatchObject({ status: 'running', attempt: 1 });
  expect(new Set(crashes.map(({ workerPid }) => workerPid)).size).toBe(3);
  // After the second crash the job waits, so that it cannot take worker after worker down in a row.
  const waitedMs = Number(crashes[2]?.claimedAtMs) - Number(crashes[1]?.recordedAtMs);
  // Ten seconds; the record and the wait read the clock one after the other, and anything may come in between.
  expect(waitedMs).toBeGreaterThanOrEqual(5_000);
  for (const job of jobs.filter(({ id }) => [...neighbours, ...later].includes(id))) {
    expect(job).toMatchObject({ status: 'completed', attempt: 1 });
  }
  expect(await arena().check()).toEqual([]);
});
