import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { leaseMs } from './support/arena.ts';
import { ask } from './support/records.ts';
import { useArena } from './support/use-arena.ts';

const arena = useArena();

it('keeps the leases of a worker whose event loop a handler blocks for three leases', async () => {
  await arena().startScheduler();
  await arena().startWorker();
  // The neighbour waits politely and must not suffer: its lease is kept by the same thread.
  const [neighbour = ''] = await arena().enqueue([{ type: 'hold', payload: { gate: 'end' } }]);
  await waitFor('the neighbour runs', () => arena().countIn('running', 1));
  const [blocker = ''] = await arena().enqueue([{ type: 'block', payload: { gate: 'unblock' } }]);
  await waitFor('the lease was renewed for three leases', () => isHeldFor(blocker, 3 * leaseMs), {
    timeoutMs: 60_000,
  });
  arena().openGate('unblock');
  await waitFor('the blocking job is done', () => isCompleted(blocker));
  arena().openGate('end');
  const { jobs, executions } = await arena().untilQuiet();
  for (const job of jobs) {
    expect(job).toMatchObject({ status: 'completed', attempt: 1, executionSeq: 1, crashCount: 0 });
  }
  expect(executions.map(({ jobId }) => jobId).sort()).toEqual([neighbour, blocker].sort());
  expect(await arena().check({ isFaultless: true })).toEqual([]);
});

async function isHeldFor(id: string, ms: number): Promise<boolean> {
  const sql = `
    select id from holdfast.jobs
    where id = $1 and lock_expires_at > clock_timestamp()
      and clock_timestamp() - claimed_at > $2::double precision * interval '1 millisecond'`;
  return (await ask(arena().database, sql, [id, ms])).length > 0;
}

async function isCompleted(id: string): Promise<boolean> {
  const { jobs } = await arena().records();
  return jobs.some((job) => job.id === id && job.status === 'completed');
}
