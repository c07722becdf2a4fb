import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueueJobs, statements } from '@holdfast/database';
import type { SqlValue } from '@holdfast/database';
import { bulkBatch, inBatches, makeJobs, noopType, payloadJson } from '../bench-jobs.ts';
import type { BenchServer } from '../bench-server.ts';
import { alternate, ratioOf } from '../measure.ts';
import type { PartResult, Sample, Side } from '../measure.ts';
import type { BenchOptions } from '../options.ts';
import { arrayOf, emptyArray } from '../sql-arrays.ts';
import { timed } from '../timed.ts';

const holdfast = 'Holdfast';
const insert = 'bare insert';
const copy = 'COPY';

/** Many jobs at once, against the insert statement with ready-made parameters and against COPY. */
export async function measureBulkEnqueue(
  server: BenchServer,
  options: BenchOptions,
): Promise<PartResult> {
  const { jobCount, runCount } = options;
  const sides: readonly Side[] = [
    { name: holdfast, run: () => runHoldfast(server, jobCount) },
    { name: insert, run: () => runInsert(server, jobCount) },
    { name: copy, run: () => runCopy(server, jobCount) },
  ];
  const results = await alternate(runCount, sides);
  const ratioTo = (to: string): number => ratioOf(results, 'jobs/s', { of: holdfast, to });
  return {
    title: `Bulk enqueue of ${jobCount.toLocaleString('en-US')} jobs, ${bulkBatch.toLocaleString('en-US')} a call`,
    sides: results,
    verdicts: [
      { what: 'bulk enqueue / bare insert', value: ratioTo(insert), unit: '×' },
      { what: 'bulk enqueue / COPY', value: ratioTo(copy), unit: '×' },
    ],
  };
}

async function runHoldfast(server: BenchServer, jobCount: number): Promise<Sample> {
  const { database, projectId } = server;
  const batches = inBatches(makeJobs(jobCount), bulkBatch);
  await server.clear();
  await server.settle();
  return timed(server, jobCount, async () => {
    for (const jobs of batches) await enqueueJobs(database, { projectId, jobs });
  });
}

async function runInsert(server: BenchServer, jobCount: number): Promise<Sample> {
  const batches = inBatches(makeJobs(jobCount), bulkBatch).map((jobs): readonly SqlValue[] => {
    const all = (value: string | number): string => arrayOf(jobs.map(() => value));
    const none = emptyArray(jobs.length);
    return [
      server.projectId,
      arrayOf(jobs.map((job) => job.id)),
      all(server.queueId),
      all(noopType),
      all(JSON.stringify(payloadJson)),
      all(5),
      all(5),
      all(300_000),
      // Retry policy, tags, metadata, schedule, instant, and what few jobs have.
      ...Array.from({ length: 6 }, () => none),
    ];
  });
  await server.clear();
  await server.settle();
  return timed(server, jobCount, async () => {
    for (const values of batches) await server.database.query(statements.enqueueJobs, values);
  });
}

/** The file is read by the server itself, so that no client costs anything: the highest ceiling. */
async function runCopy(server: BenchServer, jobCount: number): Promise<Sample> {
  const file = join(server.folder, 'jobs.copy');
  const now = new Date().toISOString();
  const rows = makeJobs(jobCount).map((job, index) =>
    [
      server.projectId,
      job.id,
      server.queueId,
      noopType,
      payloadJson,
      'queued',
      index + 1,
      now,
      now,
    ].join('\t'),
  );
  writeFileSync(file, rows.join('\n') + '\n');
  chmodSync(file, 0o644);
  await server.clear();
  await server.settle();
  return timed(server, jobCount, async () => {
    await server.database.execute(
      `copy holdfast.jobs (project_id, id, queue_id, type, payload, status, seq, run_at, created_at) from '${file}'`,
    );
  });
}
