import { durationBucket, durationBucketCount, recordStats } from '@holdfast/database';
import type { Lane, QueueStats } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';
import type { Logger } from '@holdfast/runtime';
import type { HeldJob } from './held-job.ts';

interface Tally {
  completed: number;
  failed: number;
  deadLetter: number;
  cancelled: number;
  waitMsSum: number;
  runMsSum: number;
  readonly waitBuckets: number[];
  readonly runBuckets: number[];
}

/** What the collector works with. */
export interface StatsCollectorOptions {
  readonly lane: Lane;
  readonly projectId: string;
  readonly workerId: string;
  readonly logger: Logger;
}

const writeEveryMs = 1_000;

/** Counts stored ends per queue and adds them to the minute's rows once a second. A crash loses at most that second. */
export class StatsCollector {
  readonly #options: StatsCollectorOptions;
  #tallies = new Map<string, Tally>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StatsCollectorOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.write(), writeEveryMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  count(job: HeldJob, transition: Decision['transition']): void {
    const tally = this.#tallyOf(job.claimed.queueId);
    const runMs = Math.max(0, job.finishedAtMs - job.startedAtMs);
    const waitMs = Math.max(0, job.claimed.waitMs);
    if (transition === 'complete_jobs') tally.completed += 1;
    else if (transition === 'abandon_jobs') tally.cancelled += 1;
    else if (transition !== 'release_jobs' && transition !== 'return_jobs') tally.failed += 1;
    if (transition === 'dead_letter_jobs') tally.deadLetter += 1;
    tally.waitMsSum += waitMs;
    tally.runMsSum += runMs;
    increment(tally.waitBuckets, durationBucket(waitMs));
    increment(tally.runBuckets, durationBucket(runMs));
  }

  async write(): Promise<void> {
    if (this.#tallies.size === 0) return;
    const tallies = this.#tallies;
    this.#tallies = new Map();
    const stats: QueueStats[] = [...tallies].map(([queueId, tally]) => ({ queueId, ...tally }));
    const { lane, projectId, workerId: shard, logger } = this.#options;
    try {
      await recordStats(lane, { projectId, shard, stats });
    } catch (error) {
      logger.warn({ err: error }, 'write of statistics failed');
    }
  }

  #tallyOf(queueId: string): Tally {
    let tally = this.#tallies.get(queueId);
    if (tally === undefined) {
      tally = {
        completed: 0,
        failed: 0,
        deadLetter: 0,
        cancelled: 0,
        waitMsSum: 0,
        runMsSum: 0,
        waitBuckets: new Array<number>(durationBucketCount).fill(0),
        runBuckets: new Array<number>(durationBucketCount).fill(0),
      };
      this.#tallies.set(queueId, tally);
    }
    return tally;
  }
}

function increment(buckets: number[], index: number): void {
  buckets[index] = (buckets[index] ?? 0) + 1;
}
