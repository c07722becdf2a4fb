import type { BatchCounts, BatchKind, BatchStatus, LifeCycleEvent } from '@holdfast/domain';
import type { RegisteredEvents } from './register.ts';

/** What an event about a job says of it. */
export interface JobEventData {
  readonly type: string;
  readonly queue: string;
  /** 0 before the first attempt. */
  readonly attempt: number;
  readonly executionSeq: number;
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** How long the job waits now. */
  readonly nextDelayMs?: number;
}

interface WorkerEventData {
  readonly workerId: string;
  readonly host: string;
  readonly pid: number;
}

interface QueueEventData {
  readonly queue: string;
  readonly by?: string;
  readonly reason?: string;
}

interface ScheduleEventData {
  readonly schedule: string;
  readonly scheduleId: string;
}

/** What the other events say. */
export interface OtherEventData {
  /** `reason`: what became of the job that was not enqueued, such as `kept` or `replaced`. */
  readonly JobDeduplicated: {
    readonly type: string;
    readonly queue: string;
    readonly reason?: string;
  };
  readonly ScheduleFired: ScheduleEventData & { readonly fireAt: string; readonly reason: string };
  /** Instants that were missed together make one event. */
  readonly ScheduleMissed: ScheduleEventData & {
    readonly count: number;
    readonly firstFireAt: string;
    readonly lastFireAt: string;
  };
  readonly BatchFinished: {
    readonly batchId: string;
    readonly kind: BatchKind;
    readonly name: string | null;
    readonly status: Exclude<BatchStatus, 'running'>;
    readonly counts: BatchCounts;
  };
  readonly QueuePaused: QueueEventData;
  readonly QueueResumed: QueueEventData;
  readonly WorkerStarted: WorkerEventData;
  readonly WorkerStopping: WorkerEventData;
  readonly WorkerLost: WorkerEventData;
}

/** The names of the application's events: those of `Register`, or else any. */
export type EventName = Extract<keyof RegisteredEvents, string>;

/** The data of an event: of Holdfast's own, of `Register`, or else unknown. */
export type EventData<Event extends string> = Event extends keyof OtherEventData
  ? OtherEventData[Event]
  : Event extends LifeCycleEvent
    ? JobEventData
    : Event extends keyof RegisteredEvents
      ? RegisteredEvents[Event]
      : unknown;

/** The payload of the jobs that a subscription makes. */
export interface EventPayload<Event extends string = string> {
  readonly event: Event;
  /** The same for all listeners of one event. */
  readonly id: string;
  readonly data: EventData<Event>;
  /** RFC 3339, in UTC. */
  readonly occurredAt: string;
  /** The job that the event is about. */
  readonly jobId?: string;
}

/** Data and options as arguments; data that nothing is known of may be left out. */
export type DataAndOptions<Event extends string, Options> =
  unknown extends EventData<Event>
    ? [data?: unknown, options?: Options]
    : [data: EventData<Event>, options?: Options];

/**
 * `unknown` when a job with this input can take the events, so that an intersection with it changes nothing; else what no
 * job has, under a name that tells people who read the compiler's error.
 */
export type TakesEvent<Event extends string, Input> =
  unknown extends EventData<Event>
    ? unknown
    : EventPayload<Event> extends Input
      ? unknown
      : { readonly 'the payload of the job must accept the event': EventPayload<Event> };
