import type { ClaimLane, ClaimedJob } from '@holdfast/database';

const priorities = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const fullScanEveryMs = 1_000;
/** A full scan may take up at most one part in this many of the time. */
const fullScanShare = 20;

/**
 * Remembers, for each queue and priority, the highest seq that this worker has claimed, so that a worker which drains a
 * long line need not step over the dead index entries of everything before. Rows behind a mark (late commits, returned
 * jobs) are found by a full scan every second, or less often when a full scan is dear.
 */
export class LowWaterMarks {
  readonly #marks = new Map<string, string>();
  #fullScanAtMs = -Infinity;
  #fullScanCostMs = 0;

  /** The lanes to claim from, in order; marks apply only while the worker drains a line. */
  lanes(queueIds: readonly string[], scan: 'full' | 'marked'): readonly ClaimLane[] {
    return queueIds.flatMap((queueId) =>
      priorities.map((priority) => ({
        queueId,
        priority,
        afterSeq:
          scan === 'full' ? '0' : (this.#marks.get(`${queueId}/${String(priority)}`) ?? '0'),
      })),
    );
  }

  /** Whether it is time for a full scan although the worker drains. */
  isFullScanDue(nowMs: number): boolean {
    const pauseMs = Math.max(fullScanEveryMs, this.#fullScanCostMs * fullScanShare);
    return nowMs - this.#fullScanAtMs >= pauseMs;
  }

  /** Notes what a scan found and cost. */
  note(claim: {
    readonly jobs: readonly ClaimedJob[];
    readonly scan: 'full' | 'marked';
    readonly startedAtMs: number;
    readonly endedAtMs: number;
  }): void {
    for (const job of claim.jobs) {
      const key = `${job.queueId}/${String(job.priority)}`;
      const mark = this.#marks.get(key);
      if (mark === undefined || isLater(job.seq, mark)) this.#marks.set(key, job.seq);
    }
    if (claim.scan === 'marked') return;
    this.#fullScanAtMs = claim.endedAtMs;
    this.#fullScanCostMs = claim.endedAtMs - claim.startedAtMs;
  }

  /** Whether full scans are cheap enough to be made every time. */
  get fullScansAreCheap(): boolean {
    return this.#fullScanCostMs < 5;
  }
}

/** Compares two bigints written as text without leading zeros. */
export function isLater(seq: string, than: string): boolean {
  return seq.length === than.length ? seq > than : seq.length > than.length;
}
