import type { Lane, Statement } from '@holdfast/database';
import { Holdfast, defineJob } from 'holdfast';
import { makeJob, noopType, payloadJson } from '../bench-jobs.ts';
import { queueName } from '../bench-server.ts';
import type { BenchServer } from '../bench-server.ts';
import { alternate, ratioOf } from '../measure.ts';
import type { PartResult, Sample } from '../measure.ts';
import type { BenchOptions } from '../options.ts';
import { timed } from '../timed.ts';

/** The plainest insert of a job that there is; each call is a transaction of its own. */
const insertJob: Statement = {
  name: 'bench_insert_job',
  text: `insert into holdfast.jobs (project_id, id, queue_id, type, payload, status, seq, run_at, created_at)
    values ($1, $2, $3, $4, $5::jsonb, 'queued', nextval('holdfast.job_seq'), clock_timestamp(), clock_timestamp())`,
};

const manyCallers = 50;
const ways = {
  holdfastMany: `Holdfast, ${String(manyCallers)} callers`,
  bareMany: `insert and commit each, ${String(manyCallers)} connections`,
  holdfastOne: 'Holdfast, 1 caller',
  bareOne: 'insert and commit each, 1 connection',
} as const;

/** Jobs that come one by one, each acknowledged after its commit. */
export async function measureSingleEnqueue(
  server: BenchServer,
  options: BenchOptions,
): Promise<PartResult> {
  const { singleCount, runCount } = options;
  const fewer = singleCount / 10;
  const many = { callers: manyCallers, jobCount: singleCount };
  const one = { callers: 1, jobCount: fewer };
  const results = await alternate(runCount, [
    { name: ways.holdfastMany, run: () => runHoldfast(server, many) },
    { name: ways.bareMany, run: () => runInserts(server, many) },
    { name: ways.holdfastOne, run: () => runHoldfast(server, one) },
    { name: ways.bareOne, run: () => runInserts(server, one) },
  ]);
  const ratio = (of: string, to: string): number => ratioOf(results, 'jobs/s', { of, to });
  return {
    title: `Single enqueue, ${singleCount.toLocaleString('en-US')} jobs by ${String(manyCallers)} callers and ${fewer.toLocaleString('en-US')} by one`,
    sides: results,
    verdicts: [
      {
        what: `single enqueue by ${String(manyCallers)} callers / one commit each`,
        value: ratio(ways.holdfastMany, ways.bareMany),
        unit: '×',
        wanted: { atLeast: 3 },
      },
      {
        what: 'single enqueue by 1 caller / bare insert and commit',
        value: ratio(ways.holdfastOne, ways.bareOne),
        unit: '×',
      },
    ],
  };
}

interface Load {
  readonly callers: number;
  readonly jobCount: number;
}

const noop = defineJob<unknown>({ type: noopType, queue: queueName });
const payload: unknown = JSON.parse(payloadJson);

/** What an application calls, checks and all. */
async function runHoldfast(server: BenchServer, load: Load): Promise<Sample> {
  await using holdfast = new Holdfast({ connectionString: server.url });
  const enqueue = async (): Promise<void> => {
    await holdfast.enqueue(noop, payload);
  };
  await prepare(server);
  await enqueue();
  return await timed(server, load.jobCount, () => callInTurns(load, enqueue));
}

async function runInserts(server: BenchServer, load: Load): Promise<Sample> {
  const lanes = Array.from({ length: load.callers }, () => server.database.openLane('lane'));
  const insert = async (lane: Lane): Promise<void> => {
    const { id } = makeJob();
    const values = [server.projectId, id, server.queueId, noopType, payloadJson];
    await lane.queryArrays(insertJob, values);
  };
  await prepare(server);
  await Promise.all(lanes.map(insert));
  const sample = await timed(server, load.jobCount, () =>
    callInTurns(load, async (caller) => {
      const lane = lanes[caller];
      if (lane !== undefined) await insert(lane);
    }),
  );
  await Promise.all(lanes.map((lane) => lane.close()));
  return sample;
}

async function prepare(server: BenchServer): Promise<void> {
  await server.clear();
  await server.settle();
}

/** Each caller does the next thing as soon as its last one is done, until all together have done enough. */
async function callInTurns(
  { callers, jobCount }: Load,
  call: (caller: number) => Promise<void>,
): Promise<void> {
  let left = jobCount;
  const run = async (caller: number): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call(caller);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(caller)));
}
