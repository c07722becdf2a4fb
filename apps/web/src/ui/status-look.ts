import type { ExecutionStatus, JobStatus } from '@holdfast/domain';
import type { IconName } from './icon-paths.ts';
import type { Tone } from './tone.ts';

/** How a status is shown everywhere: word, colour, icon, and one sentence which explains it. */
export interface StatusLook {
  readonly label: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly meaning: string;
}

/** The look of each job status. A new status does not compile until it is here. */
export const jobStatusLook: Record<JobStatus, StatusLook> = {
  queued: { label: 'Queued', tone: 'wait', icon: 'jobs', meaning: 'Due, and in line for a worker' },
  scheduled: {
    label: 'Scheduled',
    tone: 'later',
    icon: 'clock',
    meaning: 'Waits for its time, or for its next attempt',
  },
  claimed: {
    label: 'Claimed',
    tone: 'held',
    icon: 'hand',
    meaning: 'Held by a worker, not started',
  },
  running: { label: 'Running', tone: 'busy', icon: 'play', meaning: 'A worker runs it now' },
  completed: { label: 'Completed', tone: 'ok', icon: 'check', meaning: 'Succeeded' },
  failed: {
    label: 'Failed',
    tone: 'warn',
    icon: 'warning',
    meaning: 'Waits for a person to decide',
  },
  dead_letter: {
    label: 'Dead letter',
    tone: 'bad',
    icon: 'deadLetters',
    meaning: 'Failed for the last time; it can be replayed',
  },
  cancelled: {
    label: 'Cancelled',
    tone: 'off',
    icon: 'slash',
    meaning: 'Ended by a person or a rule',
  },
};

/** How an execution looks; `interrupted` is one whose worker vanished. */
export type ExecutionLookName = ExecutionStatus | 'interrupted';

/** The look of each way in which an execution can stand. */
export const executionLook: Record<ExecutionLookName, StatusLook> = {
  running: {
    label: 'Running',
    tone: 'busy',
    icon: 'play',
    meaning: 'Open: its worker holds the lease',
  },
  completed: { label: 'Completed', tone: 'ok', icon: 'check', meaning: 'The handler succeeded' },
  failed: { label: 'Failed', tone: 'bad', icon: 'close', meaning: 'The handler gave an error' },
  timed_out: {
    label: 'Timed out',
    tone: 'bad',
    icon: 'clock',
    meaning: 'Took longer than its timeout',
  },
  cancelled: {
    label: 'Cancelled',
    tone: 'off',
    icon: 'slash',
    meaning: 'Stopped by a cancel request',
  },
  returned: {
    label: 'Returned',
    tone: 'wait',
    icon: 'replay',
    meaning: 'Given back by its worker; the attempt is not charged',
  },
  released: {
    label: 'Released',
    tone: 'later',
    icon: 'clock',
    meaning: 'Asked to run later; the attempt is not charged',
  },
  interrupted: {
    label: 'Interrupted',
    tone: 'warn',
    icon: 'bolt',
    meaning: 'Its worker vanished; the attempt is not charged',
  },
};
