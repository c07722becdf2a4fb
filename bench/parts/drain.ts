import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { statements } from '@holdfast/database';
import { fillQueue, noopType } from '../bench-jobs.ts';
import type { BenchServer } from '../bench-server.ts';
import { alternate, medianOf, ratioOf } from '../measure.ts';
import type { PartResult, Sample, Side } from '../measure.ts';
import type { BenchOptions } from '../options.ts';
import { arrayOf, emptyArray } from '../sql-arrays.ts';
import { cpuFigures, difference, timed } from '../timed.ts';
import { startWorker } from '../worker-process.ts';
import type { workerPrograms } from '../worker-process.ts';

const worker = 'worker';
const sdkWorker = 'worker of the SDK';
const batchSizes = [500, 1_000] as const;
const loopCount = 2;
const bareName = (batchSize: number): string => `bare loop of ${String(batchSize)}`;

/** One worker process at its defaults against the statements that it sends, from a loop that does nothing else. */
export async function measureDrain(
  server: BenchServer,
  options: BenchOptions,
): Promise<PartResult> {
  const { jobCount, runCount } = options;
  const sides: readonly Side[] = [
    { name: worker, run: () => drainByWorker(server, jobCount, 'worker') },
    { name: sdkWorker, run: () => drainByWorker(server, jobCount, 'createWorker') },
    ...batchSizes.map((batchSize) => ({
      name: bareName(batchSize),
      run: () => drainByLoop(server, { jobCount, batchSize }),
    })),
  ];
  const results = await alternate(runCount, sides);
  const rateOf = (size: number): number => medianOf(results, bareName(size), 'jobs/s');
  const [best] = [...batchSizes].sort((a, b) => rateOf(b) - rateOf(a));
  const ceiling = bareName(best ?? batchSizes[0]);
  return {
    title: `Drain of ${jobCount.toLocaleString('en-US')} jobs that do nothing, one worker process at its defaults`,
    sides: results,
    verdicts: [
      {
        what: 'drain by a worker / best bare loop',
        value: ratioOf(results, 'jobs/s', { of: worker, to: ceiling }),
        unit: '×',
        wanted: { atLeast: 0.7 },
      },
      {
        what: 'drain by a worker of the SDK / by the worker application',
        value: ratioOf(results, 'jobs/s', { of: sdkWorker, to: worker }),
        unit: '×',
      },
    ],
  };
}

async function drainByWorker(
  server: BenchServer,
  jobCount: number,
  program: keyof typeof workerPrograms,
): Promise<Sample> {
  await fillQueue(server, warmUpCount);
  const process = startWorker(server, { warmUp: warmUpCount, measured: jobCount }, program);
  await process.next('warm');
  await untilEmpty(server);
  process.freeze();
  await fillQueue(server, jobCount);
  const first = process.next('first');
  const last = process.next('last');
  process.thaw();
  await first;
  const serverBefore = server.cpuSeconds();
  const { cpuSeconds } = await last;
  await untilEmpty(server);
  const serverSeconds = difference(serverBefore, server.cpuSeconds());
  await process.stop();
  return {
    'jobs/s': await recordedRate(server),
    ...cpuFigures(jobCount, { server: serverSeconds, node: cpuSeconds }),
  };
}

/** A worker runs for days: it is measured when its code is compiled, as the loop's is, and not while it starts. */
const warmUpCount = 20_000;

/** Waits for the last ends to be stored; every job has begun already. */
async function untilEmpty(server: BenchServer): Promise<void> {
  for (;;) {
    const rows = await server.ask('select from holdfast.jobs limit 1');
    if (rows.length === 0) return;
    await sleep(20);
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

async function drainByLoop(
  server: BenchServer,
  options: { readonly jobCount: number; readonly batchSize: number },
): Promise<Sample> {
  const { jobCount, batchSize } = options;
  await fillQueue(server, jobCount);
  const line = { afterSeq: '0' };
  const pairs = Array.from({ length: loopCount }, () => ({
    claims: server.database.openLane('claims'),
    writes: server.database.openLane('lane'),
  }));
  const cost = await timed(server, jobCount, async () => {
    await Promise.all(pairs.map((pair) => loop(server, { ...pair, batchSize, line })));
  });
  for (const { claims, writes } of pairs) {
    await claims.close();
    await writes.close();
  }
  return { ...cost, 'jobs/s': await recordedRate(server) };
}

type ClaimedRow = readonly [
  id: string,
  queueId: string,
  type: string,
  payload: string,
  priority: number,
  seq: string,
];

/** Claims and completes in turn; `line` is shared, so that no claim steps over what was claimed before. */
async function loop(
  server: BenchServer,
  {
    claims,
    writes,
    batchSize,
    line,
  }: {
    readonly claims: ReturnType<BenchServer['database']['openLane']>;
    readonly writes: ReturnType<BenchServer['database']['openLane']>;
    readonly batchSize: number;
    readonly line: { afterSeq: string };
  },
): Promise<void> {
  const { projectId, queueId } = server;
  const workerId = randomUUID();
  for (;;) {
    const token = randomUUID();
    const rows = await claims.queryArrays<ClaimedRow>(statements.claimJobs, [
      projectId,
      ...[arrayOf([queueId]), arrayOf([5]), arrayOf([line.afterSeq]), arrayOf([noopType])],
      ...[batchSize, 1, workerId, token, 30_000],
    ]);
    if (rows.length === 0) return;
    for (const [, , , , , seq] of rows)
      if (BigInt(seq) > BigInt(line.afterSeq)) line.afterSeq = seq;
    const all = (value: string | number): string => arrayOf(rows.map(() => value));
    const ids = arrayOf(rows.map(([id]) => id));
    const values = [projectId, ids, all(token), all(0), all(0), emptyArray(rows.length)];
    await writes.queryArrays(statements.completeJobs, values);
  }
}
