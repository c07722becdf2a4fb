import type { Decision } from '@holdfast/domain';
import type { PendingFinish } from './finish-writer.ts';

/** One attempt that has ended, and what became of its job. */
export interface EndedAttempt {
  readonly jobId: string;
  readonly type: string;
  readonly queue: string;
  readonly attempt: number;
  readonly executionSeq: number;
  /** 0 when the handler had not started. */
  readonly durationMs: number;
  readonly decision: Decision;
}

/** Who hears of what the worker has done. Must not throw. */
export interface WorkerObserver {
  /** The end is stored. */
  onEnded(end: EndedAttempt): void;
}

/** An end as observers see it. */
export function endedAttempt({ job, decision }: PendingFinish): EndedAttempt {
  const { id, type, attempt, executionSeq } = job.claimed;
  const hasStarted = job.startedAtMs > 0 && job.finishedAtMs > 0;
  return {
    ...{ jobId: id, type, queue: job.queueName, attempt, executionSeq, decision },
    durationMs: hasStarted ? job.finishedAtMs - job.startedAtMs : 0,
  };
}
