import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promoteJobs, reapExpiredLeases } from '@holdfast/database';
import { spawnProcess, waitFor } from '@holdfast/testing';
import type { SpawnedProcess } from '@holdfast/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ask } from './support/records.ts';
import { supervise } from './support/supervise.ts';
import { useArena } from './support/use-arena.ts';

const statements = ['begin', 'check', 'first', 'second', 'finish', 'commit'];
const boundaries = [
  'before begin',
  ...statements.flatMap((name) => [`${name} sent`, `${name} answered`]),
  'acknowledged',
];
const committed = ['commit answered', 'acknowledged'];
const killCount = 200;
const workerCount = 4;
const leaseMs = 1_500;

const script = fileURLToPath(new URL('./support/fenced-worker.mjs', import.meta.url));
const arena = useArena();
let kills: string;
const processes: SpawnedProcess[] = [];

beforeEach(async () => {
  await arena().database.execute(
    'create table effects (job_id uuid not null, part integer not null, execution_seq integer not null)',
  );
  kills = mkdtempSync(join(tmpdir(), 'holdfast-kills-'));
});
afterEach(async () => {
  await Promise.all(processes.map((process) => process.destroy()));
  rmSync(kills, { recursive: true });
});

async function startWorker(signal: 'SIGKILL' | 'SIGSTOP'): Promise<SpawnedProcess> {
  const { connectionString } = arena().database.settings;
  const env = { DATABASE_URL: connectionString, KILLS: kills, SIGNAL: signal };
  const process = spawnProcess({ script, env });
  processes.push(process);
  return Promise.resolve(process);
}

interface Kill {
  readonly boundary: string;
  /** In which execution of the job it was. */
  readonly executionSeq: number;
}

/** What the workers wrote down before they killed themselves, by job. */
function readKills(): ReadonlyMap<string, Kill> {
  const entries = readdirSync(kills).map((id) => {
    // Written by the worker's script.
    return [id, JSON.parse(readFileSync(join(kills, id), 'utf8')) as Kill] as const;
  });
  return new Map(entries);
}

/** Enqueues jobs which kill their workers at one boundary after the other. */
function enqueue(count: number): Promise<readonly string[]> {
  return arena().enqueue(
    Array.from({ length: count }, (_, index) => ({
      type: 'effect',
      payload: { boundary: boundaries[index % boundaries.length] },
    })),
  );
}

/** What schedulers do, with no patience: the jobs of killed workers run again as soon as their leases have ended. */
async function rescue(): Promise<void> {
  const { database } = arena();
  const hurry = { poisonCount: 1_000, crashBackoffMs: 1, spreadMs: 1 };
  await reapExpiredLeases(database, { leaseMs, ...hurry });
  await promoteJobs(database);
}

it('has the effect of each job exactly once while workers are killed at every statement boundary', async () => {
  const { database } = arena();
  const workers = Array.from({ length: workerCount }, () =>
    supervise(() => startWorker('SIGKILL')),
  );
  const ids: string[] = [];
  const isOver = async () => {
    await rescue();
    if ((await arena().countUnfinished()) > 0) return false;
    // Some jobs were committed when their worker was killed by another's; others take their places.
    const missing = killCount - readdirSync(kills).length;
    ids.push(...(await enqueue(missing)));
    return missing === 0;
  };
  await waitFor('all workers are killed and all jobs are at their end', isOver, {
    timeoutMs: 480_000,
  });
  await Promise.all(workers.map((worker) => worker.stop()));

  const reached = readKills();
  expect(reached.size).toBe(killCount);
  expect(new Set([...reached.values()].map(({ boundary }) => boundary))).toEqual(
    new Set(boundaries),
  );
  const exits = await Promise.all(processes.map(({ exited }) => exited));
  expect(exits.filter(({ signal }) => signal === 'SIGKILL')).toHaveLength(killCount);

  const { jobs, executions } = await arena().records();
  expect(jobs.map(({ id }) => id).sort()).toEqual([...ids].sort());
  for (const job of jobs) expect(job).toMatchObject({ status: 'completed', attempt: 1 });
  const effects = await ask<{ readonly effect: string }>(
    database,
    `select job_id || ' ' || part || ' ' || execution_seq as effect from effects order by 1`,
  );
  // The result is the number of the execution that committed: both rows are of that one.
  const expected = jobs.flatMap(({ id, result }) =>
    [1, 2].map((part) => `${id} ${part} ${String(result)}`),
  );
  expect(effects.map(({ effect }) => effect)).toEqual(expected.sort());
  for (const { id, result } of jobs) {
    const own = executions.filter(({ jobId }) => jobId === id);
    // It was committed in its last execution: a job that was killed behind its commit did not run again.
    expect(own.at(-1)).toMatchObject({ status: 'completed', executionSeq: result });
    expect(own.filter(({ status }) => status === 'completed')).toHaveLength(1);
  }
  for (const { id, result } of jobs) {
    const kill = reached.get(id);
    // Whether a commit that was on its way took place is left to chance.
    if (kill === undefined || kill.boundary === 'commit sent') continue;
    const isCommitted = committed.includes(kill.boundary);
    expect(kill.executionSeq === result, kill.boundary).toBe(isCommitted);
  }
});

it.each(['check answered', 'second answered', 'finish sent', 'commit sent'])(
  'has the effect of a job once whose worker froze at "%s" and woke up when another had taken over',
  async (boundary) => {
    const frozen = await startWorker('SIGSTOP');
    const [id = ''] = await arena().enqueue([{ type: 'effect', payload: { boundary } }]);
    await waitFor('the worker is frozen', () => readdirSync(kills).includes(id));
    const other = await startWorker('SIGSTOP');
    const isOver = async () => {
      await rescue();
      return (await arena().countUnfinished()) === 0;
    };
    await waitFor('the job is at its end', isOver, { timeoutMs: 30_000 });
    frozen.kill('SIGCONT');
    frozen.kill('SIGTERM');
    other.kill('SIGTERM');
    await Promise.all([frozen.exited, other.exited]);
    const { jobs } = await arena().records();
    expect(jobs).toMatchObject([{ id, status: 'completed' }]);
    const parts = await ask(
      arena().database,
      'select part, execution_seq as result from effects order by part',
    );
    const [{ result } = { result: undefined }] = jobs;
    expect(parts).toEqual([
      { part: 1, result },
      { part: 2, result },
    ]);
  },
);
