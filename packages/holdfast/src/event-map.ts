import type { AttemptError } from '@holdfast/domain';

/** Which job an event is about. */
export interface JobEvent {
  readonly jobId: string;
  readonly type: string;
  readonly queue: string;
}

/** Which attempt of a job an event is about. */
export interface AttemptEvent extends JobEvent {
  readonly workerId: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly executionSeq: number;
}

/** How long the attempt ran. */
export interface EndedAttemptEvent extends AttemptEvent {
  readonly durationMs: number;
}

/** What the listeners in this process hear of: the calls of its `Holdfast` and the jobs of its workers. */
export interface HoldfastEvents {
  /** A job was enqueued that is due now. With `tx`: inserted, but not committed yet. */
  readonly JobQueued: JobEvent;
  /** A job was enqueued for later. */
  readonly JobScheduled: JobEvent;
  /** A job was not enqueued because another one has its unique key or its id; `jobId` is that one's. */
  readonly JobDeduplicated: JobEvent;
  /** A handler is about to be called. */
  readonly JobProcessing: AttemptEvent;
  /** The job completed, and that is stored. */
  readonly JobProcessed: EndedAttemptEvent;
  /** The handler threw. `nextDelayMs`: until the next attempt; `undefined` when no attempt follows by itself. */
  readonly JobExceptionOccurred: EndedAttemptEvent & {
    readonly error: AttemptError;
    readonly nextDelayMs: number | undefined;
  };
  /** The handler asked to run later. `nextDelayMs`: until the next attempt. */
  readonly JobReleased: EndedAttemptEvent & {
    readonly nextDelayMs: number;
    readonly reason: string | undefined;
  };
  /** The job has become a dead letter. */
  readonly JobFailed: EndedAttemptEvent & {
    readonly error: AttemptError | undefined;
    readonly reason: string;
  };
  /** The attempt ran longer than the job's timeout. */
  readonly JobTimedOut: EndedAttemptEvent & {
    readonly error: AttemptError;
    readonly nextDelayMs: number | undefined;
  };
  /** The job was cancelled: by a call of this process, or while a worker of this process had it. */
  readonly JobCancelled: { readonly jobId: string; readonly reason: string | undefined };
  readonly QueuePaused: { readonly queue: string; readonly reason: string | undefined };
  readonly QueueResumed: { readonly queue: string };
  readonly WorkerStarted: {
    readonly workerId: string;
    /** What it takes: a type stands for payloads of version 1, `type@2` for those of version 2. */
    readonly types: readonly string[];
    /** `undefined`: all of the project. */
    readonly queues: readonly string[] | undefined;
    readonly concurrency: number;
  };
  /** The worker claims no more and waits for what it runs. */
  readonly WorkerStopping: { readonly workerId: string };
}

/** The name of an event. */
export type HoldfastEvent = keyof HoldfastEvents;

// A record, so that the compiler misses a name that is not here.
const namesOfEvents: Readonly<Record<HoldfastEvent, true>> = {
  ...{ JobQueued: true, JobScheduled: true, JobDeduplicated: true, JobProcessing: true },
  ...{ JobProcessed: true, JobExceptionOccurred: true, JobReleased: true, JobFailed: true },
  ...{ JobTimedOut: true, JobCancelled: true, QueuePaused: true, QueueResumed: true },
  ...{ WorkerStarted: true, WorkerStopping: true },
};

/** The names of all events. */
export const holdfastEvents = Object.keys(namesOfEvents) as readonly HoldfastEvent[];

/** Called with what happened. What it throws or rejects with is logged and hurts nobody. */
export type HoldfastListener<Event extends HoldfastEvent> = (
  data: HoldfastEvents[Event],
) => unknown;
