import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { useArena } from './support/use-arena.ts';

const workerCount = 3;
const schedulerCount = 2;
const roundCount = 2;

const arena = useArena();

it('recovers by itself after all processes were killed at once', async () => {
  const ids: string[] = [];
  for (let round = 1; round <= roundCount; round += 1) {
    const processes = await startAll();
    ids.push(
      ...(await arena().enqueue([
        ...many(20, { type: 'hold', payload: { gate: 'end' } }),
        ...many(200, { type: 'quick' }),
        ...many(20, { type: 'hold', payload: { gate: 'end' }, delayMs: 500 }),
      ])),
    );
    await waitFor('many jobs run', async () => (await arena().countIn('running')) >= 20, {
      timeoutMs: 60_000,
    });
    for (const process of processes) process.kill('SIGKILL');
    await Promise.all(processes.map(({ exited }) => exited));
  }
  const heldCount = (await arena().countIn('claimed')) + (await arena().countIn('running'));
  expect(heldCount).toBeGreaterThan(0);
  arena().openGate('end');
  await startAll();
  const { jobs, executions } = await arena().untilQuiet();

  expect(jobs).toHaveLength(ids.length);
  for (const job of jobs) expect(job).toMatchObject({ status: 'completed', attempt: 1 });
  const interrupted = executions.filter(({ status }) => status === 'running');
  expect(interrupted.length).toBeGreaterThanOrEqual(heldCount);
  for (const execution of interrupted) expect(execution.leaseLostAtMs).not.toBeNull();
  expect(await arena().check()).toEqual([]);
});

function startAll() {
  return Promise.all([
    ...Array.from({ length: workerCount }, () => arena().startWorker()),
    ...Array.from({ length: schedulerCount }, () => arena().startScheduler()),
  ]);
}

function many<T>(count: number, job: T): readonly T[] {
  return Array.from({ length: count }, () => job);
}
