import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { useArena } from './support/use-arena.ts';

const workerCount = 10;
const roundCount = 20;
const jobsPerRound = 1_000;

const arena = useArena();

it('runs each of 1000 jobs exactly once with 10 worker processes, 20 times', async () => {
  const workers = await Promise.all(
    Array.from({ length: workerCount }, () => arena().startWorker({ HOLDFAST_CONCURRENCY: '10' })),
  );
  for (let round = 1; round <= roundCount; round += 1) {
    await arena().enqueue(Array.from({ length: jobsPerRound }, () => ({ type: 'quick' })));
    await waitFor(
      `the jobs of round ${round} are at their end`,
      async () => (await arena().countUnfinished()) === 0,
      { timeoutMs: 60_000 },
    );
  }
  for (const worker of workers) worker.kill('SIGTERM');
  for (const worker of workers) expect((await worker.exited).code).toBe(0);
  const ledger = arena().ledger();
  expect(await arena().check({ isFaultless: true })).toEqual([]);
  expect(ledger.filter(({ phase }) => phase === 'end')).toHaveLength(roundCount * jobsPerRound);
  // One worker alone would show nothing.
  expect(new Set(ledger.map(({ workerPid }) => workerPid)).size).toBeGreaterThan(1);
});
