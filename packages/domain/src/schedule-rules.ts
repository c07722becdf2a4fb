/** None, the newest, or each of the instants that passed while no scheduler ran. */
export const catchUps = ['none', 'latest', 'all'] as const;

/** Which of the instants that nobody could fire in time are made up for. */
export type CatchUp = (typeof catchUps)[number];

/** Skip an instant while the job of an earlier one has not ended, or allow both. */
export const overlaps = ['skip', 'allow'] as const;

/** What happens at an instant while the job of an earlier one has not ended. */
export type Overlap = (typeof overlaps)[number];

/** On time, late and made up for, not fired for a reason, or by hand. */
export const fireOutcomes = [
  'enqueued',
  'caught_up',
  'skipped_overlap',
  'skipped_paused',
  'missed',
  'manual',
] as const;

/** What became of one due instant. */
export type FireOutcome = (typeof fireOutcomes)[number];
