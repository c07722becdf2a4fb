import { waitFor } from '@holdfast/testing';
import { NonRetryableError, createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { query } from './support/stored-rows.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;

beforeAll(async () => {
  test = await openHoldfast();
});
afterAll(() => test.close());

const flip = defineJob({
  type: 'flip',
  run: ({ dies }: { dies: boolean }) => {
    if (dies) throw new NonRetryableError('tails');
  },
});

/** Ends a job, and lets it have ended that long ago. */
async function endedAgo(dies: boolean, ago: string): Promise<string> {
  const { holdfast, server } = test;
  const { id } = await holdfast.enqueue(flip, { dies });
  await holdfast.wait(id);
  const table = dies ? 'jobs' : 'job_history';
  const columns = ['created_at', 'run_at', 'claimed_at', 'started_at', 'finished_at'];
  const changes = columns.map((column) => `${column} = ${column} - $2::interval`).join(', ');
  await query(server.url, `update holdfast.${table} set ${changes} where id = $1`, [id, ago]);
  return id;
}

async function idsIn(table: 'jobs' | 'job_history', ids: readonly string[]) {
  const text = `select id from holdfast.${table} where id = any ($1)`;
  return (await query(test.server.url, text, [ids])).map(({ id }) => id);
}

it('is that of the options, or else a week and ninety days', async () => {
  const { holdfast } = test;
  const maker = createWorker({ holdfast, jobs: [flip], maintenance: false });
  await maker.start();
  const ancient = await endedAgo(true, '100 days');
  const dead = await endedAgo(true, '3 hours');
  const done = await endedAgo(false, '2 days');
  await maker.stop();

  const keeper = createWorker({ holdfast, jobs: [flip] });
  await keeper.start();
  await waitFor('retention was applied', async () => (await idsIn('jobs', [ancient])).length === 0);
  await keeper.stop();
  expect(await idsIn('jobs', [dead])).toEqual([dead]);
  expect(await idsIn('job_history', [done])).toEqual([done]);

  const retention = { history: '1h', deadLetters: '2h' } as const;
  const pruner = createWorker({ holdfast, jobs: [flip], retention });
  await pruner.start();
  await waitFor('nothing is kept', async () => {
    return [...(await idsIn('jobs', [dead])), ...(await idsIn('job_history', [done]))].length === 0;
  });
  await pruner.stop();
});

it('is refused by name when it is none, too short, or for a worker that keeps nothing', () => {
  const { holdfast } = test;
  const refused = (retention: object, more: object = {}) =>
    expect(() => createWorker({ holdfast, jobs: [flip], retention, ...more }));
  refused({ history: '5m' }).toThrow(/retention\.history must be between/);
  refused({ deadLetters: 'long' }).toThrow(/retention\.deadLetters must be milliseconds or/);
  refused({ dead_letters: '90d' }).toThrow(/no option "dead_letters"; did you mean "deadLetters"/);
  refused('30d' as never).toThrow(/retention must be an object/);
  refused({ history: '30d' }, { maintenance: false }).toThrow(/with maintenance/);
});
