/** `npm run bench`: Holdfast beside the bare SQL that it stands on, in one run and on one server. */
import { startBenchServer } from './bench-server.ts';
import type { BenchServer } from './bench-server.ts';
import { readEnvironment } from './environment.ts';
import type { PartResult } from './measure.ts';
import { readOptions, usage } from './options.ts';
import type { BenchOptions, PartName } from './options.ts';
import { measureBatch } from './parts/batch.ts';
import { measureBulkEnqueue } from './parts/bulk-enqueue.ts';
import { measureDrain } from './parts/drain.ts';
import { measureMemory } from './parts/memory.ts';
import { measurePickUp } from './parts/pick-up.ts';
import { measureSingleEnqueue } from './parts/single-enqueue.ts';
import { describeReport, keepReport } from './report.ts';
import type { Report } from './report.ts';

type Measure = (server: BenchServer, options: BenchOptions) => Promise<PartResult>;

const measures: Readonly<Record<PartName, Measure>> = {
  bulk: measureBulkEnqueue,
  single: measureSingleEnqueue,
  drain: measureDrain,
  batch: measureBatch,
  'pick-up': measurePickUp,
  memory: measureMemory,
};

const args = process.argv.slice(2);
try {
  const options = readOptions(args);
  if (options === undefined) console.log(usage);
  else await run(options);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}

async function run(options: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  let report: Report;
  try {
    const environment = await readEnvironment(server, args);
    const parts: PartResult[] = [];
    for (const name of options.parts) {
      console.log(`${name}:`);
      parts.push(await measures[name](server, options));
    }
    report = { environment, runCount: options.runCount, parts };
  } finally {
    await server.stop();
  }
  console.log(`\n${describeReport(report)}`);
  if (options.isFull) await keepReport(report);
}
