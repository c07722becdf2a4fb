import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { fillQueue, makeJobs } from '../bench-jobs.ts';
import { queueName } from '../bench-server.ts';
import type { BenchServer } from '../bench-server.ts';
import { longWaitMs, watchLockWaits } from '../lock-waits.ts';
import { alternate, ratioOf } from '../measure.ts';
import type { PartResult, Sample } from '../measure.ts';
import type { BenchOptions } from '../options.ts';
import { familySeconds } from '../processor-time.ts';
import { cpuFigures, difference } from '../timed.ts';
import { startWorker } from '../worker-process.ts';
import type { WorkerProcess } from '../worker-process.ts';

const loose = 'jobs of no batch';
const together = 'members of one batch';
const processCount = 2;
const warmUpCount = 20_000;
const waitsName = `row lock waits > ${String(longWaitMs)} ms`;
const batchWaitsName = 'of them behind another flush or the batch';
/** What else locks the rows of jobs: a claim those that others have claimed meanwhile, a heartbeat those that it extends. */
const foreignHolders = ['claim_jobs', 'extend_leases'];

/** The same jobs drained by two worker processes, without a batch and as the members of one. */
export async function measureBatch(
  server: BenchServer,
  { jobCount, runCount }: BenchOptions,
): Promise<PartResult> {
  const results = await alternate(runCount, [
    { name: loose, run: () => drain(server, jobCount, () => fillQueue(server, jobCount)) },
    { name: together, run: () => drainBatch(server, jobCount) },
  ]);
  const waits = results.find(({ name }) => name === together)?.figures[batchWaitsName];
  return {
    title: `Drain of ${jobCount.toLocaleString('en-US')} jobs by two worker processes, without and with a batch around them`,
    sides: results,
    verdicts: [
      {
        what: 'drain of one batch / of the same jobs without one',
        value: ratioOf(results, 'jobs/s', { of: together, to: loose }),
        unit: '×',
        wanted: { atLeast: 0.6 },
      },
      {
        what: `waits of a flush of more than ${String(longWaitMs)} ms for another flush or the batch`,
        value: waits?.max ?? NaN,
        unit: '',
        wanted: { atMost: 0 },
      },
    ],
  };
}

async function drainBatch(server: BenchServer, jobCount: number): Promise<Sample> {
  const id = uuidV7(Date.now());
  const makeMs: number[] = [];
  const sample = await drain(server, jobCount, async () => {
    await server.clear();
    const startedAtMs = performance.now();
    await createBatch(server.database, {
      projectId: server.projectId,
      batch: { id, kind: 'batch', jobs: makeJobs(jobCount), callbacks: [callback()] },
    });
    makeMs.push(performance.now() - startedAtMs);
    await server.settle();
  });
  return { ...sample, 'to make it, ms': makeMs[0], ...(await figuresOf(server, id)) };
}

/** Its job has no handler here: the batch calls it, and nobody runs it. */
function callback() {
  const job = { type: 'never', queue: queueName, payload: {} };
  return { role: 'then', jobId: uuidV7(Date.now()), job } as const;
}

/** How long after the last end of a member the batch had counted it and called its callback. */
async function figuresOf(server: BenchServer, id: string): Promise<Sample> {
  for (;;) {
    const [row] = await server.ask<{ readonly lag_ms: number; readonly completed_count: number }>(
      `select b.completed_count,
         extract(epoch from b.finished_at - (select max(recorded_at) from holdfast.job_executions))::float8 * 1000
           as lag_ms
       from holdfast.batches as b where b.id = $1 and b.finished_at is not null`,
      [id],
    );
    if (row !== undefined) return { 'counted after, ms': row.lag_ms };
    await sleep(20);
  }
}

async function drain(
  server: BenchServer,
  jobCount: number,
  fill: () => Promise<void>,
): Promise<Sample> {
  await fillQueue(server, warmUpCount);
  const processes = Array.from({ length: processCount }, () => startWorker(server));
  await untilEnded(server, warmUpCount);
  for (const process of processes) process.freeze();
  await fill();
  const nodeSeconds = () => sum(processes.map(({ pid }) => familySeconds(pid)));
  const before = { server: server.cpuSeconds(), node: nodeSeconds() };
  const { waits } = await watchLockWaits(server, () => run(server, jobCount, processes));
  const cost = {
    server: difference(before.server, server.cpuSeconds()),
    node: difference(before.node, nodeSeconds()) ?? NaN,
  };
  for (const process of processes) await process.stop();
  return {
    'jobs/s': await recordedRate(server),
    ...cpuFigures(jobCount, cost),
    [waitsName]: waits.length,
    [batchWaitsName]: waits.filter(
      ({ table, holder }) => table !== 'jobs' || !foreignHolders.includes(holder),
    ).length,
    'longest wait, ms':
      waits.length === 0 ? undefined : Math.max(...waits.map((wait) => wait.tookMs)),
  };
}

async function run(
  server: BenchServer,
  jobCount: number,
  processes: readonly WorkerProcess[],
): Promise<void> {
  for (const process of processes) process.thaw();
  await untilEnded(server, jobCount);
  // What follows from the last ends is done by the workers as well.
  await sleep(500);
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>(
    (total, value) => (total === undefined || value === undefined ? undefined : total + value),
    0,
  );
}

async function untilEnded(server: BenchServer, count: number): Promise<void> {
  for (;;) {
    const [row] = await server.ask<{ readonly count: number }>(
      `select count(*)::integer as count from holdfast.job_executions where status = 'completed'`,
    );
    if ((row?.count ?? 0) >= count) return;
    await sleep(100);
  }
}

/** From the first claim to the last stored end, by the server's clock. */
async function recordedRate(server: BenchServer): Promise<number> {
  const [row] = await server.ask<{ readonly rate: number }>(
    `select count(*) / extract(epoch from max(recorded_at) - min(claimed_at))::double precision as rate
     from holdfast.job_executions where status = 'completed'`,
  );
  return row?.rate ?? NaN;
}
