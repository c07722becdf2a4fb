import type { Worker } from '@holdfast/contract';
import type { IconName } from '../../ui/icon-paths.ts';
import type { Tone } from '../../ui/tone.ts';

interface WorkerLook {
  readonly label: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly meaning: string;
}

/** How each status of a worker is shown. */
export const workerLook: Record<Worker['status'], WorkerLook> = {
  active: { label: 'Active', tone: 'ok', icon: 'check', meaning: 'Claims and runs jobs' },
  quiet: { label: 'Quiet', tone: 'later', icon: 'moonSleep', meaning: 'Claims no more jobs' },
  stopping: {
    label: 'Stopping',
    tone: 'wait',
    icon: 'stop',
    meaning: 'Finishes its jobs, then ends',
  },
  lost: { label: 'Lost', tone: 'bad', icon: 'warning', meaning: 'Its heartbeats have stopped' },
};
