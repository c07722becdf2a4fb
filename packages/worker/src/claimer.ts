import { randomUUID } from 'node:crypto';
import {
  claimJobs,
  claimJobsWithinLimit,
  isTransientError,
  listClaimableQueues,
} from '@holdfast/database';
import type { ClaimableQueue, ClaimedJob, Lane } from '@holdfast/database';
import type { Logger } from '@holdfast/runtime';
import { isLater, LowWaterMarks } from './low-water-marks.ts';
import { monotonicMs } from './monotonic.ts';

/** How much the worker can take now. */
export interface ClaimCapacity {
  /** Free slots. */
  readonly slots: number;
  /** Free slots and free places in the buffer. */
  readonly total: number;
  /** Free quarantine slots. */
  readonly suspects: number;
}

/** What the claimer works with. */
export interface ClaimerOptions {
  readonly lane: Lane;
  readonly projectId: string;
  readonly workerId: string;
  /** Names of the queues to serve; `undefined` for all. */
  readonly queueNames: readonly string[] | undefined;
  readonly types: readonly string[];
  readonly leaseMs: number;
  readonly pollIntervalMs: number;
  readonly logger: Logger;
  capacity(): ClaimCapacity;
  /** Takes over claimed jobs. `sentAtMs` is from before the claim was sent: the lease is counted from there. */
  onClaimed(
    jobs: readonly { readonly job: ClaimedJob; readonly queueName: string }[],
    sentAtMs: number,
  ): void;
}

/** A wake-up for a queue that is not known yet makes the list be read again, at most this often. */
const rereadQueuesAfterMs = 250;
const refreshQueuesEveryMs = 5_000;
const errorBackoffCapMs = 10_000;

/**
 * Claims jobs whenever the worker has room and there may be some: after a wake-up, at every poll, and again at once
 * while claims come back full.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #marks = new LowWaterMarks();
  #queues: readonly ClaimableQueue[] = [];
  #queuesReadAtMs = -Infinity;
  #rotation = 0;
  #claiming: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wakeRequested = false;
  #mayHaveMore = false;
  #hasBacklog = false;
  /** A queue with a limit was not asked because no slot was free. */
  #limitedWaiting = false;
  #failures = 0;
  #active = false;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /** Starts polling, or goes on after a `pause`. */
  resume(): void {
    this.#active = true;
    this.wake();
    this.#schedulePoll();
  }

  /** Claims no more; resolves when the claim under way has ended. */
  async pause(): Promise<void> {
    this.#active = false;
    clearTimeout(this.#timer);
    await this.#claiming;
  }

  /** Something may have become due. */
  wake(): void {
    this.#wakeRequested = true;
    this.pump();
  }

  /** Something may have become due in this queue; queues of others are ignored. */
  wakeQueue(queueId: string): void {
    if (this.#queues.some((queue) => queue.id === queueId)) this.wake();
    else if (monotonicMs() - this.#queuesReadAtMs > rereadQueuesAfterMs) {
      this.#queuesReadAtMs = -Infinity;
      this.wake();
    }
  }

  /** The end of a job of this queue is stored: a queue with a limit has room again. */
  noteStored(queueId: string): void {
    const isLimited = this.#queues.some(
      ({ id, concurrency }) => id === queueId && concurrency !== undefined,
    );
    if (isLimited) this.wake();
    else this.pump();
  }

  /** Room became free. */
  pump(): void {
    if (!this.#active || this.#claiming !== undefined || this.#failures > 0) return;
    const { total, slots } = this.#options.capacity();
    const limitedMayGive = this.#limitedWaiting && slots > 0;
    if (!this.#wakeRequested && !this.#mayHaveMore && !limitedMayGive) return;
    if (total <= 0) return;
    this.#wakeRequested = false;
    this.#claiming = this.#claim().finally(() => {
      this.#claiming = undefined;
      this.pump();
    });
  }

  #schedulePoll(): void {
    if (!this.#active) return;
    clearTimeout(this.#timer);
    // Spread by half of the interval, so that workers which started together do not poll together.
    const intervalMs = this.#options.pollIntervalMs * (0.75 + Math.random() * 0.5);
    const backoffMs = Math.random() * Math.min(errorBackoffCapMs, 100 * 2 ** this.#failures);
    this.#timer = setTimeout(
      () => {
        this.#failures = 0;
        this.wake();
        this.#schedulePoll();
      },
      this.#failures > 0 ? Math.max(intervalMs, backoffMs) : intervalMs,
    );
  }

  async #claim(): Promise<void> {
    try {
      await this.#refreshQueues();
      const open = this.#queues.filter((queue) => !queue.paused);
      const full = await this.#claimUnlimited(
        open.filter((queue) => queue.concurrency === undefined),
      );
      const limited = open.filter((queue) => queue.concurrency !== undefined);
      this.#limitedWaiting = false;
      for (const queue of this.#rotate(limited)) await this.#claimLimited(queue);
      this.#mayHaveMore = full;
    } catch (error) {
      this.#mayHaveMore = false;
      this.#failures += 1;
      const level = isTransientError(error) ? 'warn' : 'error';
      this.#options.logger[level]({ err: error }, 'claim failed');
      this.#schedulePoll();
    }
  }

  async #refreshQueues(): Promise<void> {
    const nowMs = monotonicMs();
    // Without wake-ups, too, the first job of a new queue waits no longer than any other.
    const maxAgeMs = this.#hasBacklog ? refreshQueuesEveryMs : this.#options.pollIntervalMs / 2;
    if (nowMs - this.#queuesReadAtMs < maxAgeMs) return;
    this.#queues = await listClaimableQueues(this.#options.lane, {
      projectId: this.#options.projectId,
      names: this.#options.queueNames,
    });
    this.#queuesReadAtMs = nowMs;
  }

  /** Answers whether the claim came back full, so that there may be more. */
  async #claimUnlimited(queues: readonly ClaimableQueue[]): Promise<boolean> {
    const capacity = this.#options.capacity();
    if (queues.length === 0 || capacity.total <= 0) return false;
    const startedAtMs = monotonicMs();
    const isFull =
      (!this.#hasBacklog && this.#marks.fullScansAreCheap) ||
      this.#marks.isFullScanDue(startedAtMs);
    const scan = isFull ? 'full' : 'marked';
    const ids = this.#rotate(queues).map((queue) => queue.id);
    const jobs = await claimJobs(this.#options.lane, {
      ...this.#request(capacity),
      limit: capacity.total,
      lanes: this.#marks.lanes(ids, scan),
    });
    this.#marks.note({ jobs, scan, startedAtMs, endedAtMs: monotonicMs() });
    this.#take(jobs, startedAtMs);
    const full = jobs.length >= capacity.total;
    // The end of a marked scan is not the end of the line: one full scan tells.
    const again = full || (scan === 'marked' && this.#hasBacklog);
    this.#hasBacklog = full;
    return again;
  }

  /** Takes no more than the free slots: a buffer would keep the queue's limit from others. */
  async #claimLimited(queue: ClaimableQueue): Promise<void> {
    const capacity = this.#options.capacity();
    this.#limitedWaiting ||= capacity.slots <= 0;
    if (capacity.slots <= 0) return;
    const sentAtMs = monotonicMs();
    const jobs = await claimJobsWithinLimit(this.#options.lane, {
      ...this.#request(capacity),
      limit: capacity.slots,
      queueId: queue.id,
    });
    this.#take(jobs, sentAtMs);
  }

  #request(capacity: ClaimCapacity) {
    const { projectId, workerId, leaseMs, types } = this.#options;
    const suspectLimit = capacity.suspects;
    return { projectId, workerId, leaseMs, types, suspectLimit, leaseToken: randomUUID() };
  }

  #take(jobs: readonly ClaimedJob[], sentAtMs: number): void {
    if (jobs.length === 0) return;
    const names = new Map(this.#queues.map((queue) => [queue.id, queue.name]));
    const inOrder = [...jobs].sort(byPlaceInLine);
    this.#options.onClaimed(
      inOrder.map((job) => ({ job, queueName: names.get(job.queueId) ?? '' })),
      sentAtMs,
    );
  }

  /** Starts with another queue each time, so that a long line does not hide the others. */
  #rotate<T>(items: readonly T[]): readonly T[] {
    if (items.length < 2) return items;
    this.#rotation += 1;
    const shift = this.#rotation % items.length;
    return [...items.slice(shift), ...items.slice(0, shift)];
  }
}

function byPlaceInLine(a: ClaimedJob, b: ClaimedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.seq === b.seq) return 0;
  return isLater(a.seq, b.seq) ? 1 : -1;
}
