import type { JobStatus } from './job-statuses.ts';

/** Who may make a transition. */
export type TransitionActor = 'caller' | 'worker' | 'scheduler' | 'person';

/** One arrow (or bundle of arrows) of the state machine. `from: []` means that the job did not exist. */
export interface Transition {
  readonly from: readonly JobStatus[];
  readonly to: JobStatus;
  readonly by: TransitionActor;
  /** One sentence for the docs' diagram. */
  readonly why: string;
}

/**
 * The whole state machine as data. Each name is a statement of `packages/database/sql/job-lifecycle.sql`; tests hold
 * the two, the documentation's diagram and PostgreSQL's own behaviour equal.
 */
export const jobTransitions = {
  enqueue_jobs: { from: [], to: 'queued', by: 'caller', why: 'due now' },
  schedule_jobs: { from: [], to: 'scheduled', by: 'caller', why: 'delayed, or for a set time' },
  hold_back_jobs: { from: [], to: 'scheduled', by: 'caller', why: 'waits for other jobs' },
  promote_jobs: { from: ['scheduled'], to: 'queued', by: 'scheduler', why: 'became due' },
  unblock_jobs: {
    from: ['scheduled'],
    to: 'queued',
    by: 'worker',
    why: 'its last parent ended',
  },
  postpone_unblocked_jobs: {
    from: ['scheduled'],
    to: 'scheduled',
    by: 'worker',
    why: 'its last parent ended, and it has a delay',
  },
  claim_jobs: { from: ['queued'], to: 'claimed', by: 'worker', why: 'leased to a worker' },
  claim_jobs_within_limit: {
    from: ['queued'],
    to: 'claimed',
    by: 'worker',
    why: 'leased within the queue’s limit',
  },
  start_jobs: { from: ['claimed'], to: 'running', by: 'worker', why: 'the handler starts' },
  complete_jobs: {
    from: ['claimed', 'running'],
    to: 'completed',
    by: 'worker',
    why: 'the handler succeeded',
  },
  retry_jobs: {
    from: ['claimed', 'running'],
    to: 'scheduled',
    by: 'worker',
    why: 'failed, attempts left: backoff',
  },
  fail_jobs: {
    from: ['claimed', 'running'],
    to: 'failed',
    by: 'worker',
    why: 'failed under the manual policy',
  },
  dead_letter_jobs: {
    from: ['claimed', 'running'],
    to: 'dead_letter',
    by: 'worker',
    why: 'failed for the last time',
  },
  release_jobs: {
    from: ['claimed', 'running'],
    to: 'scheduled',
    by: 'worker',
    why: 'asked to run later, not charged',
  },
  return_jobs: {
    from: ['claimed', 'running'],
    to: 'queued',
    by: 'worker',
    why: 'drained, attempt refunded',
  },
  abandon_jobs: {
    from: ['claimed', 'running'],
    to: 'cancelled',
    by: 'worker',
    why: 'stopped after a cancel request',
  },
  cancel_jobs: {
    from: ['queued', 'scheduled', 'failed'],
    to: 'cancelled',
    by: 'person',
    why: 'cancelled before a claim, or discarded',
  },
  expire_jobs: {
    from: ['queued', 'scheduled'],
    to: 'cancelled',
    by: 'scheduler',
    why: 'not started by its deadline',
  },
  force_cancel_jobs: {
    from: ['claimed', 'running'],
    to: 'cancelled',
    by: 'scheduler',
    why: 'ignored a cancel request for 30 s',
  },
  reap_jobs: {
    from: ['claimed', 'running'],
    to: 'queued',
    by: 'scheduler',
    why: 'lease expired for the first time',
  },
  reap_blameless_jobs: {
    from: ['claimed'],
    to: 'queued',
    by: 'scheduler',
    why: 'lease expired before a suspect started',
  },
  reap_suspect_jobs: {
    from: ['running'],
    to: 'scheduled',
    by: 'scheduler',
    why: 'lease expired again: backoff',
  },
  reap_poison_jobs: {
    from: ['running'],
    to: 'dead_letter',
    by: 'scheduler',
    why: 'killed its worker three times',
  },
  reap_spread_jobs: {
    from: ['claimed', 'running'],
    to: 'scheduled',
    by: 'scheduler',
    why: 'lost with many workers at once',
  },
  retry_job: { from: ['failed'], to: 'queued', by: 'person', why: 'retried by hand' },
  run_job_now: { from: ['scheduled'], to: 'queued', by: 'person', why: 'not waiting any longer' },
  replay_job: { from: ['dead_letter'], to: 'queued', by: 'person', why: 'replayed' },
  revive_jobs: {
    from: ['cancelled'],
    to: 'scheduled',
    by: 'person',
    why: 'the parent whose death cancelled it is replayed',
  },
  retire_dead_letters: {
    from: ['dead_letter'],
    to: 'dead_letter',
    by: 'scheduler',
    why: 'moved to history by retention',
  },
} as const satisfies Record<string, Transition>;

/** The name of a transition, which is also the name of its SQL statement. */
export type TransitionName = keyof typeof jobTransitions;
