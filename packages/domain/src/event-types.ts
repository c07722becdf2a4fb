/**
 * The events that Holdfast announces by itself, each with one sentence for the documentation. Applications name their own
 * events otherwise.
 */
export const lifeCycleEvents = {
  JobQueued: 'A job is due and in line: it is new, its time has come, or somebody queued it again.',
  JobScheduled: 'A job waits for its time, or for the jobs that it depends on.',
  JobProcessing: 'A worker has claimed a job.',
  JobProcessed: 'A job completed.',
  JobExceptionOccurred: 'The handler of an attempt threw.',
  JobTimedOut: 'An attempt ran longer than its job’s timeout.',
  JobReleased: 'The handler asked to run again later.',
  JobFailed: 'A job has become a dead letter.',
  JobRescued: 'A worker lost its lease on a job, and the job waits for another one.',
  JobCancelled: 'A job was ended by a person or by a rule.',
  JobDeduplicated: 'A job was not enqueued, because another one holds its unique key.',
  ScheduleFired: 'A schedule made a job.',
  ScheduleMissed: 'Instants of a schedule passed while no scheduler ran, and are not made up for.',
  BatchFinished: 'Every job of a batch, chain or graph has ended.',
  QueuePaused: 'A queue was paused.',
  QueueResumed: 'The pause of a queue ended.',
  WorkerStarted: 'A worker process made itself known.',
  WorkerStopping: 'A worker process claims no more jobs and ends those that it has.',
  WorkerLost: 'A worker process has not been heard of for the length of a lease.',
} as const satisfies Readonly<Record<string, string>>;

/** The name of an event that Holdfast announces by itself. */
export type LifeCycleEvent = keyof typeof lifeCycleEvents;

/** Whether an event is one that Holdfast announces by itself, and that nobody else may emit. */
export function isLifeCycleEvent(event: string): event is LifeCycleEvent {
  return Object.hasOwn(lifeCycleEvents, event);
}
