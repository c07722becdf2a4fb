import { waitFor } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { query } from './support/stored-rows.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

const memberCount = 5_000;

let test: TestHoldfast;

beforeEach(async () => {
  test = await openHoldfast();
});
afterEach(() => test.close());

const quick = defineJob({ type: 'quick', run: (n: number) => n });
const ended = defineJob({ type: 'ended', run: () => undefined });

it('lets workers end the members of a large batch while somebody has the batch’s row locked', async () => {
  const { holdfast, server } = test;
  const members = Array.from({ length: memberCount }, (_, index) => quick.with(index));
  const { id } = await holdfast.batch(members).then(ended.with()).enqueue();
  const holder = new pg.Client(server.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from holdfast.batches where id = $1 for update', [id]);
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');

  const workers = [1, 2].map(() => createWorker({ holdfast, jobs: [quick, ended] }));
  for (const worker of workers) await worker.start();
  const left = 'select from holdfast.jobs where batch_id = $1 limit 1';
  await waitFor('all members have ended', async () => {
    return (await query(server.url, left, [id])).length === 0;
  });
  const waiting = 'select query from pg_stat_activity where $1 = any (pg_blocking_pids(pid))';
  expect(await query(server.url, waiting, [rows[0]?.pid])).toEqual([]);
  expect(await holdfast.batches.get(id)).toMatchObject({
    counts: { completed: 0 },
    status: 'running',
  });

  await holder.query('commit');
  await holder.end();
  const batch = await waitFor('the batch has called then', async () => {
    const found = await holdfast.batches.get(id);
    return found.callbacks[0]?.endedAt !== undefined && found;
  });
  expect(batch).toMatchObject({ status: 'completed', counts: { completed: memberCount } });
  for (const worker of workers) await worker.stop();
});
