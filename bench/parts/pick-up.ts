import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { claimJobs, createEnqueuer, createNotifier, openListener } from '@holdfast/database';
import { makeJob } from '../bench-jobs.ts';
import type { BenchServer } from '../bench-server.ts';
import { alternate, medianOf, quantile, ratioOf } from '../measure.ts';
import type { PartResult, Sample } from '../measure.ts';
import type { BenchOptions } from '../options.ts';
import { startWorker } from '../worker-process.ts';

const worker = 'worker';
const bare = 'bare insert, wake-up and claim';
const jobType = 'pick-up';
/** Pauses between jobs are spread evenly between these, so that no rhythm of the worker's meets one of ours. */
const pauseMs = { min: 10, max: 90 } as const;

/** From before the enqueue to the handler's first line, on a worker that has nothing else to do. */
export async function measurePickUp(
  server: BenchServer,
  options: BenchOptions,
): Promise<PartResult> {
  const { pickUpCount, runCount } = options;
  const results = await alternate(runCount, [
    { name: worker, run: () => pickUpByWorker(server, pickUpCount) },
    { name: bare, run: () => pickUpByLoop(server, pickUpCount) },
  ]);
  const p50 = medianOf(results, worker, 'p50 ms');
  return {
    title: `Pick-up latency of an idle worker, ${String(pickUpCount)} jobs at about 20/s`,
    sides: results,
    verdicts: [
      { what: 'pick-up p50', value: p50, unit: 'ms', wanted: { atMost: 4 } },
      { what: 'pick-up p99', value: medianOf(results, worker, 'p99 ms'), unit: 'ms' },
      {
        what: 'pick-up p50 / bare insert, wake-up and claim',
        value: ratioOf(results, 'p50 ms', { of: worker, to: bare }),
        unit: '×',
      },
    ],
  };
}

async function pickUpByWorker(server: BenchServer, count: number): Promise<Sample> {
  const process = startWorker(server);
  const sample = await pickUp(server, { count, nextPickUpMs: nextOf(process) });
  await process.stop();
  return sample;
}

function nextOf(process: ReturnType<typeof startWorker>): () => Promise<number> {
  return async () => (await process.next('picked_up')).tookMs;
}

/** The same way without a worker: a listener wakes a claim, and its answer is the end. */
async function pickUpByLoop(server: BenchServer, count: number): Promise<Sample> {
  const { database, projectId, queueId } = server;
  const claims = database.openLane('claims');
  let tell: ((tookMs: number) => void) | undefined;
  const claim = async (): Promise<void> => {
    const jobs = await claimJobs(claims, {
      ...{ projectId, workerId: randomUUID(), leaseToken: randomUUID(), leaseMs: 30_000 },
      ...{ types: [jobType], limit: 20, suspectLimit: 1 },
      lanes: [{ queueId, priority: 5, afterSeq: '0' }],
    });
    for (const job of jobs) tell?.(tookMsOf(job.payloadJson));
  };
  let tellConnected: (() => void) | undefined;
  const connected = new Promise<void>((resolve) => {
    tellConnected = resolve;
  });
  const listener = openListener(database, {
    onConnected: () => tellConnected?.(),
    onQueue: () => void claim(),
  });
  await connected;
  const nextPickUpMs = (): Promise<number> =>
    new Promise((resolve) => {
      tell = resolve;
    });
  const sample = await pickUp(server, { count, nextPickUpMs });
  await listener.close();
  await claims.close();
  return sample;
}

async function pickUp(
  server: BenchServer,
  options: { readonly count: number; readonly nextPickUpMs: () => Promise<number> },
): Promise<Sample> {
  await server.clear();
  await server.settle();
  const notifier = createNotifier(server.database);
  const enqueuer = createEnqueuer(server.database, notifier);
  const latencies: number[] = [];
  for (let done = -warmUpCount; done < options.count; done += 1) {
    const pickedUp = options.nextPickUpMs();
    const job = {
      ...makeJob(),
      type: jobType,
      payloadJson: JSON.stringify({ sentAtNs: String(process.hrtime.bigint()) }),
    };
    await enqueuer.enqueue(server.projectId, job);
    const tookMs = await pickedUp;
    if (done >= 0) latencies.push(tookMs);
    await sleep(pauseMs.min + Math.random() * (pauseMs.max - pauseMs.min));
  }
  await notifier.close();
  return {
    'p50 ms': quantile(latencies, 0.5),
    'p95 ms': quantile(latencies, 0.95),
    'p99 ms': quantile(latencies, 0.99),
    'max ms': Math.max(...latencies),
  };
}

/** The first jobs meet a worker that is still starting. */
const warmUpCount = 10;

function tookMsOf(payloadJson: string): number {
  // Written by the loop above.
  const { sentAtNs } = JSON.parse(payloadJson) as { readonly sentAtNs: string };
  return Number(process.hrtime.bigint() - BigInt(sentAtNs)) / 1e6;
}
