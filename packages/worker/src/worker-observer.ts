import type { Decision } from '@holdfast/domain';

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
  /** Whether anybody wants to hear of ends now. */
  isListening(): boolean;
  /** The end is stored. */
  onEnded(end: EndedAttempt): void;
}
