import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { supervise, untilDied } from './support/supervise.ts';
import { useArena } from './support/use-arena.ts';

const workerCount = 4;
const jobCount = 4_000;
const killCount = 8;

const arena = useArena();

it('completes all jobs while one worker after the other is killed and started again', async () => {
  await arena().startScheduler();
  const workers = Array.from({ length: workerCount }, () => supervise(() => arena().startWorker()));
  await arena().enqueue(Array.from({ length: jobCount }, () => ({ type: 'quick' })));
  for (let kill = 1; kill <= killCount; kill += 1) {
    const startCount = (kill * jobCount) / (killCount + 1);
    await waitFor(`${startCount} handlers have started`, () => countStarts() >= startCount, {
      timeoutMs: 60_000,
    });
    const inTurn = [...workers.slice(kill % workerCount), ...workers.slice(0, kill % workerCount)];
    await waitFor('a worker is there to be killed', () => inTurn.some((worker) => worker.kill()));
  }
  const { jobs, executions } = await arena().untilQuiet();
  expect(await untilDied(workers, killCount)).toBe(killCount);
  for (const worker of workers) await worker.stop();
  for (const job of jobs) expect(job).toMatchObject({ status: 'completed', attempt: 1 });
  expect(executions.some(({ status }) => status === 'running')).toBe(true);
  expect(await arena().check()).toEqual([]);
});

function countStarts(): number {
  return arena()
    .ledger()
    .filter(({ phase }) => phase === 'start').length;
}
