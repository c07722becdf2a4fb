import type { ScheduleFire } from '@holdfast/contract';
import type { Tone } from '../../ui/tone.ts';

interface FireLook {
  readonly label: string;
  readonly tone: Tone;
  readonly meaning: string;
}

/** How each outcome of a due instant is shown. */
export const fireLook: Record<ScheduleFire['outcome'], FireLook> = {
  enqueued: { label: 'Enqueued', tone: 'ok', meaning: 'Its job was enqueued in time' },
  caught_up: { label: 'Caught up', tone: 'held', meaning: 'Its job was enqueued late' },
  skipped_overlap: {
    label: 'Skipped',
    tone: 'wait',
    meaning: 'The job of the instant before had not ended',
  },
  skipped_paused: { label: 'Paused', tone: 'off', meaning: 'The schedule was paused' },
  missed: {
    label: 'Missed',
    tone: 'bad',
    meaning: 'Nothing ran to fire it, and it was not caught up',
  },
  manual: { label: 'By hand', tone: 'later', meaning: 'Somebody pressed Run now' },
};
