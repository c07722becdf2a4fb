import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { ask } from './support/records.ts';
import { useArena } from './support/use-arena.ts';

/** The exit code of a worker half of whose slots are stuck. */
const slotsStuck = 70;
/** What a handler gets between the abort by its timeout and the end of its attempt. */
const abortGraceMs = 10_000;

const arena = useArena();

it('ends the attempt of a handler that ignores its timeout, and counts its slot as stuck', async () => {
  // A worker that can afford a stuck slot, and one that cannot: half of its slots are enough to make it leave.
  const roomy = await arena().startWorker({ HOLDFAST_QUEUES: 'roomy', HOLDFAST_CONCURRENCY: '4' });
  const tight = await arena().startWorker({ HOLDFAST_QUEUES: 'tight', HOLDFAST_CONCURRENCY: '2' });
  const job = { payload: { gate: 'end' }, timeoutMs: 200, maxAttempts: 1 };
  const [obedient] = await arena().enqueue([{ ...job, type: 'hold', queue: 'roomy' }]);
  const deaf = await arena().enqueue([
    { ...job, type: 'stubborn', queue: 'roomy' },
    { ...job, type: 'stubborn', queue: 'tight' },
  ]);
  const [neighbour] = await arena().enqueue([
    { type: 'hold', payload: { gate: 'neighbour' }, queue: 'tight' },
  ]);
  const ended = await waitFor(
    'the deaf handlers have timed out',
    async () => {
      const { jobs, executions } = await arena().records();
      const isOver = jobs.filter(({ status }) => status === 'dead_letter').length === 3;
      return isOver && { jobs, executions };
    },
    { timeoutMs: 60_000 },
  );
  for (const id of [obedient, ...deaf]) {
    const found = ended.jobs.find((each) => each.id === id);
    expect(found).toMatchObject({ status: 'dead_letter', attempt: 1, executionSeq: 1 });
    expect(found?.lastError).toMatchObject({ code: 'timed_out' });
    const execution = ended.executions.find(({ jobId }) => jobId === id);
    expect(execution?.status).toBe('timed_out');
    const ranMs = Number(execution?.finishedAtMs) - Number(execution?.startedAtMs);
    // Start and end are written later than they were, by as much as the machine takes.
    if (id === obedient) expect(ranMs).toBeLessThan(abortGraceMs);
    else expect(ranMs).toBeGreaterThanOrEqual(abortGraceMs - 2_000);
  }

  await waitFor('the stuck slot is shown', async () => (await stuckSlotsOf(roomy.pid)) === 1);
  await waitFor('the tight worker drains', async () => (await statusOf(tight.pid)) === 'stopping');
  arena().openGate('neighbour');
  expect(await tight.exited).toEqual({ code: slotsStuck, signal: null });
  const after = await arena().records();
  expect(after.jobs.find(({ id }) => id === neighbour)).toMatchObject({ status: 'completed' });

  arena().openGate('end');
  await waitFor('the slot is free again', async () => (await stuckSlotsOf(roomy.pid)) === 0);
  await arena().enqueue(Array.from({ length: 20 }, () => ({ type: 'quick', queue: 'roomy' })));
  const { lateResults } = await arena().untilQuiet();
  // The end of an attempt that was over is nobody's result.
  expect(lateResults).toEqual([]);
  expect(await arena().check()).toEqual([]);
});

interface WorkerRow {
  readonly status: string;
  readonly stuckSlots: number;
}

async function workerOf(pid: number): Promise<WorkerRow | undefined> {
  const sql = 'select status, stuck_slots as "stuckSlots" from holdfast.workers where pid = $1';
  const [row] = await ask<WorkerRow>(arena().database, sql, [pid]);
  return row;
}

async function stuckSlotsOf(pid: number): Promise<number | undefined> {
  return (await workerOf(pid))?.stuckSlots;
}

async function statusOf(pid: number): Promise<string | undefined> {
  return (await workerOf(pid))?.status;
}
