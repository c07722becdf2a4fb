import { fillQueue } from '../bench-jobs.ts';
import type { BenchServer } from '../bench-server.ts';
import { alternate, medianOf } from '../measure.ts';
import type { PartResult, Sample } from '../measure.ts';
import type { BenchOptions } from '../options.ts';
import { residentMegabytes } from '../processor-time.ts';
import { startWorker } from '../worker-process.ts';

const worker = 'worker';
const sampleEveryMs = 200;

/** The memory of a worker that drains a long backlog, read while it works. One run: it takes long and varies little. */
export async function measureMemory(
  server: BenchServer,
  options: BenchOptions,
): Promise<PartResult> {
  const { backlogCount } = options;
  const results = await alternate(1, [
    { name: worker, run: () => drainBacklog(server, backlogCount) },
  ]);
  return {
    title: `Memory of a worker over a backlog of ${backlogCount.toLocaleString('en-US')} jobs`,
    sides: results,
    verdicts: [
      {
        what: 'worker RSS, peak',
        value: medianOf(results, worker, 'RSS peak MB'),
        unit: 'MB',
        wanted: { atMost: 200 },
      },
    ],
  };
}

async function drainBacklog(server: BenchServer, backlogCount: number): Promise<Sample> {
  await fillQueue(server, backlogCount);
  const process = startWorker(server, { measured: backlogCount });
  const seen: number[] = [];
  let peak = 0;
  const timer = setInterval(() => {
    const memory = residentMegabytes(process.pid);
    if (memory === undefined) return;
    seen.push(memory.now);
    peak = memory.peak;
  }, sampleEveryMs);
  await process.next('last');
  clearInterval(timer);
  await process.stop();
  const tenth = Math.ceil(seen.length / 10);
  return {
    'RSS peak MB': peak,
    'RSS second tenth MB': mean(seen.slice(tenth, 2 * tenth)),
    'RSS last tenth MB': mean(seen.slice(-tenth)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
