import type { Overview, Queue } from '@holdfast/contract';
import {
  countMissedFires,
  durabilityWarnings,
  listQueues,
  listWorkers,
  readClock,
  readQueueRates,
  readServer,
} from '@holdfast/database';
import type { Database, QueueView, RateRow, WorkerRow } from '@holdfast/database';
import { presentInstant } from './presenters/instant.ts';
import { addBuckets, percentilesOf, readBuckets } from './presenters/percentiles.ts';

const windowMs = 300_000;
const mostQueues = 1_000;
const minuteMs = 60_000;

/** The state of a project at a glance: sizes, rates of the last five minutes, workers, and what needs a person. */
export async function readOverview(database: Database, projectId: string): Promise<Overview> {
  const [now, queues, rates, workers, missed, server] = await Promise.all([
    readClock(database),
    listQueues(database, { projectId, limit: mostQueues }),
    readQueueRates(database, { projectId, windowMs }),
    listWorkers(database, projectId),
    countMissedFires(database, projectId),
    readServer(database),
  ]);
  const rateOf = new Map(rates.map((rate) => [rate.queue_id, rate]));
  return {
    asOf: presentInstant(now),
    counts: queues.map(({ counts }) => counts).reduce(addCounts, noCounts),
    rates: presentRates(rates),
    queues: queues.map((queue) => presentQueueLine(queue, rateOf.get(queue.id))),
    workers: countWorkers(workers),
    attention: [
      ...distinct(queues.flatMap((queue) => attentionOfQueue(queue, workers))),
      ...missed.map(({ name, fire_count }) => attend('missed_fires', name, fire_count)),
      ...workers.filter(({ lost }) => lost).map(({ id }) => attend('worker_lost', id, 1)),
      ...durabilityWarnings(server).map((text) => attend('database_not_durable', text, 1)),
    ],
  };
}

type Counts = Queue['counts'];
type Attention = Overview['attention'][number];

const noCounts: Counts = {
  queued: 0,
  scheduled: 0,
  claimed: 0,
  running: 0,
  failed: 0,
  deadLetter: 0,
};

function addCounts(left: Counts, right: Counts): Counts {
  return {
    queued: left.queued + right.queued,
    scheduled: left.scheduled + right.scheduled,
    claimed: left.claimed + right.claimed,
    running: left.running + right.running,
    failed: left.failed + right.failed,
    deadLetter: left.deadLetter + right.deadLetter,
  };
}

/** Failed attempts over all attempts that ended; null when none did. */
export function errorRateOf(row: Pick<RateRow, 'completed' | 'failed'>): number | null {
  const ended = row.completed + row.failed;
  return ended === 0 ? null : row.failed / ended;
}

function presentRates(rows: readonly RateRow[]): Overview['rates'] {
  const sum = (pick: (row: RateRow) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0);
  const completed = sum((row) => row.completed);
  const failed = sum((row) => row.failed);
  return {
    windowMs,
    completedPerMinute: perMinute(completed),
    failedPerMinute: perMinute(failed),
    deadLetteredPerMinute: perMinute(sum((row) => row.dead_lettered)),
    errorRate: errorRateOf({ completed, failed }),
    waitMs: percentilesOf(rows.map((row) => readBuckets(row.wait_buckets)).reduce(addBuckets, [])),
    runMs: percentilesOf(rows.map((row) => readBuckets(row.run_buckets)).reduce(addBuckets, [])),
  };
}

function perMinute(count: number): number {
  return Math.round((count / windowMs) * minuteMs * 10) / 10;
}

function presentQueueLine(queue: QueueView, rate: RateRow | undefined): Overview['queues'][number] {
  return {
    name: queue.name,
    paused: queue.paused !== undefined,
    concurrency: queue.concurrency ?? null,
    counts: queue.counts,
    oldestWaitMs: queue.oldestWaitMs ?? null,
    completedPerMinute: perMinute(rate?.completed ?? 0),
    failedPerMinute: perMinute(rate?.failed ?? 0),
  };
}

function countWorkers(workers: readonly WorkerRow[]): Overview['workers'] {
  const live = workers.filter(({ lost }) => !lost);
  const count = (status: WorkerRow['status']): number =>
    live.filter((worker) => worker.status === status).length;
  return {
    active: count('active'),
    quiet: count('quiet'),
    stopping: count('stopping'),
    lost: workers.length - live.length,
    slots: live.reduce((total, worker) => total + worker.slots, 0),
    busy: live.reduce((total, worker) => total + worker.running.length, 0),
  };
}

function attentionOfQueue(queue: QueueView, workers: readonly WorkerRow[]): readonly Attention[] {
  const servers = workers.filter(
    ({ lost, status, queues }) =>
      !lost && status === 'active' && (queues.includes('*') || queues.includes(queue.name)),
  );
  const isServed = servers.length > 0;
  const { name, counts, firstInLine } = queue;
  // The others of its queue pass it by; it stays until there is a worker for it.
  const isStranded =
    isServed &&
    firstInLine !== undefined &&
    !servers.some(({ types }) => types.includes(firstInLine));
  return [
    ...(counts.deadLetter > 0 ? [attend('dead_letters', name, counts.deadLetter)] : []),
    ...(counts.failed > 0 ? [attend('failed_jobs', name, counts.failed)] : []),
    ...(queue.paused === undefined ? [] : [attend('queue_paused', name, counts.queued)]),
    ...(isStranded && queue.paused === undefined
      ? [attend('no_worker_for_job', firstInLine, 1)]
      : []),
    ...(counts.queued > 0 && !isServed ? [attend('no_worker_for_queue', name, counts.queued)] : []),
  ];
}

/** One entry for a type that is first in line of several queues; the count is that of the queues. */
function distinct(attention: readonly Attention[]): readonly Attention[] {
  const merged = new Map<string, Attention>();
  for (const item of attention) {
    const key = JSON.stringify([item.kind, item.subject]);
    merged.set(key, { ...item, count: (merged.get(key)?.count ?? 0) + item.count });
  }
  return [...merged.values()];
}

function attend(kind: Attention['kind'], subject: string, count: number): Attention {
  return { kind, subject, count };
}
