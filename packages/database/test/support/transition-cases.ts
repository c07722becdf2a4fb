import {
  claimJobs,
  claimJobsWithinLimit,
  enqueueJobs,
  finishJobs,
  startJobs,
  statements,
  updateQueue,
} from '@holdfast/database';
import { randomUUID } from 'node:crypto';
import type { Database, Lease, NewJob, SqlValue, Statement } from '@holdfast/database';
import type { Decision, ExecutionStatus, TransitionName } from '@holdfast/domain';
import type { JobRecipe, MadeJob } from '@holdfast/testing';

/** A count moves by a number, or starts again. */
export type Change = number | 'reset';

/** What a legal transition does to the job's counts, and what it appends; absent counts stay. */
export interface Effect {
  readonly attempt?: Change;
  readonly crashCount?: Change;
  readonly executionSeq?: Change;
  readonly releaseCount?: Change;
  readonly generation?: Change;
  /** A new place in the line, or the old one; `undefined` where the line does not matter. */
  readonly seq?: 'new' | 'kept';
  readonly reason?: string;
  readonly execution?: {
    readonly status: ExecutionStatus;
    readonly reason: string | null;
    readonly interrupted?: true;
  };
}

/** How a test makes one transition happen. */
export interface TransitionCase {
  /** What the job must be like, besides its status, for the transition to be legal. */
  readonly recipe?: JobRecipe;
  readonly prepare?: (db: Database, job: MadeJob) => Promise<void>;
  readonly run: (db: Database, job: MadeJob, lease: Lease) => Promise<void>;
  readonly effect: Effect;
}

const error = { code: 'handler_failed', message: 'No', fingerprint: 'test:no' };

/** Every transition: preparation, call and effect. */
export const transitionCases: Readonly<Record<TransitionName, TransitionCase>> = {
  enqueue_jobs: { run: (db, job) => enqueue(db, job, {}), effect: {} },
  schedule_jobs: { run: (db, job) => enqueue(db, job, { delayMs: 60_000 }), effect: {} },
  hold_back_jobs: { run: (db, job) => enqueue(db, job, { parentCount: 1 }), effect: {} },
  promote_jobs: {
    recipe: { delayMs: 0.001 },
    run: (db) => run(db, statements.promoteJobs, [1_000]),
    effect: { seq: 'new' },
  },
  unblock_jobs: {
    prepare: (db, job) => db.execute(holdBack(job)),
    run: (db, job) => run(db, statements.unblockJobs, [job.projectId, `{${job.id}}`]),
    effect: { seq: 'new' },
  },
  postpone_unblocked_jobs: {
    prepare: (db, job) => db.execute(holdBack(job)),
    run: (db, job) =>
      run(db, statements.postponeUnblockedJobs, [job.projectId, `{${job.id}}`, '{60000}']),
    effect: {},
  },
  claim_jobs: { run: claim, effect: { attempt: 1, executionSeq: 1, seq: 'kept' } },
  claim_jobs_within_limit: {
    prepare: limitQueue,
    run: claimWithinLimit,
    effect: { attempt: 1, executionSeq: 1, seq: 'kept' },
  },
  start_jobs: {
    run: async (db, { projectId }, lease) => {
      await startJobs(db, { projectId, started: [{ ...lease, startedAgoMs: 0 }] });
    },
    effect: {},
  },
  complete_jobs: finishing(
    { transition: 'complete_jobs', executionStatus: 'completed', resultJson: '{"ok":true}' },
    { execution: { status: 'completed', reason: null } },
  ),
  retry_jobs: finishing(
    {
      transition: 'retry_jobs',
      executionStatus: 'timed_out',
      delayMs: 5_000,
      reason: 'exponential',
      error,
    },
    { execution: { status: 'timed_out', reason: 'exponential' } },
  ),
  fail_jobs: finishing(
    { transition: 'fail_jobs', executionStatus: 'failed', reason: 'manual_retry', error },
    { reason: 'manual_retry', execution: { status: 'failed', reason: 'manual_retry' } },
  ),
  dead_letter_jobs: finishing(
    { transition: 'dead_letter_jobs', executionStatus: 'failed', reason: 'non_retryable', error },
    { reason: 'non_retryable', execution: { status: 'failed', reason: 'non_retryable' } },
  ),
  release_jobs: finishing(
    { transition: 'release_jobs', executionStatus: 'released', delayMs: 5_000, reason: 'later' },
    { attempt: -1, releaseCount: 1, execution: { status: 'released', reason: 'later' } },
  ),
  return_jobs: finishing(
    { transition: 'return_jobs', executionStatus: 'returned', reason: 'drain' },
    { attempt: -1, seq: 'kept', execution: { status: 'returned', reason: 'drain' } },
  ),
  abandon_jobs: {
    ...finishing(
      {
        transition: 'abandon_jobs',
        executionStatus: 'cancelled',
        reason: 'cancelled',
        error,
      },
      { reason: 'asked', execution: { status: 'cancelled', reason: 'cancelled' } },
    ),
    prepare: requestCancel,
  },
  cancel_jobs: {
    run: (db, job) => run(db, statements.cancelJobs, [job.projectId, `{${job.id}}`, 'asked', '{}']),
    effect: { reason: 'asked' },
  },
  expire_jobs: {
    prepare: (db, { id }) =>
      db.execute(`update holdfast.jobs set start_deadline_at = now() where id = '${id}'`),
    run: (db) => run(db, statements.expireJobs, [1_000]),
    effect: { reason: 'start_deadline' },
  },
  force_cancel_jobs: {
    prepare: requestCancel,
    run: (db) => run(db, statements.forceCancelJobs, [0, 1_000]),
    effect: {
      reason: 'cancel_forced',
      execution: { status: 'cancelled', reason: 'cancel_forced' },
    },
  },
  reap_jobs: {
    recipe: { leaseMs: 0 },
    run: (db) => run(db, statements.reapJobs, [0, 1_000]),
    effect: { attempt: -1, crashCount: 1, seq: 'kept', execution: interrupted('lease_expired') },
  },
  reap_blameless_jobs: {
    recipe: { leaseMs: 0, crashCount: 1 },
    run: (db) => run(db, statements.reapBlamelessJobs, [0, 1_000]),
    effect: { attempt: -1, seq: 'kept', execution: interrupted('lease_expired') },
  },
  reap_suspect_jobs: {
    recipe: { leaseMs: 0, crashCount: 1 },
    run: (db) => run(db, statements.reapSuspectJobs, [0, 1_000, 10_000, 3]),
    effect: { attempt: -1, crashCount: 1, execution: interrupted('lease_expired') },
  },
  reap_poison_jobs: {
    recipe: { leaseMs: 0, crashCount: 2 },
    run: (db) => run(db, statements.reapPoisonJobs, [0, 1_000, 3]),
    effect: { crashCount: 1, reason: 'poison_pill', execution: interrupted('poison_pill') },
  },
  reap_spread_jobs: {
    recipe: { leaseMs: 0 },
    run: (db) => run(db, statements.reapSpreadJobs, [0, 1_000, 10_000]),
    effect: { attempt: -1, execution: interrupted('workers_lost') },
  },
  retry_job: byHand(statements.retryJob),
  run_job_now: {
    run: (db, job) => run(db, statements.runJobNow, [job.projectId, job.id]),
    effect: { seq: 'new' },
  },
  replay_job: byHand(statements.replayJob),
  revive_jobs: {
    prepare: (db, { id }) =>
      db.execute(`update holdfast.job_history set reason = 'parent_failed' where id = '${id}'`),
    run: (db, job) => run(db, statements.reviveJobs, [job.projectId, `{${job.id}}`, '{1}']),
    effect: { generation: 1 },
  },
  retire_dead_letters: {
    run: (db) => run(db, statements.retireDeadLetters, [0, 1_000]),
    effect: { reason: 'attempts_exhausted' },
  },
};

/** The transitions that a worker makes under its lease. */
export const fencedTransitions = [
  'start_jobs',
  'complete_jobs',
  'retry_jobs',
  'fail_jobs',
  'dead_letter_jobs',
  'release_jobs',
  'return_jobs',
  'abandon_jobs',
] as const satisfies readonly TransitionName[];

async function run(db: Database, statement: Statement, values: readonly SqlValue[]): Promise<void> {
  await db.query(statement, values);
}

function finishing(decision: Decision, effect: Effect): TransitionCase {
  const { transition } = decision;
  return {
    run: async (db, job, lease) => {
      const ended = { executionSeq: job.executionSeq, startedAgoMs: 2, finishedAgoMs: 1, decision };
      const { projectId } = job;
      await finishJobs(db, { projectId, transition, jobs: [{ ...lease, ...ended }] });
    },
    effect,
  };
}

function byHand(statement: Statement): TransitionCase {
  return {
    recipe: { crashCount: 1 },
    run: (db, job) => run(db, statement, [job.projectId, job.id]),
    effect: {
      attempt: 'reset',
      crashCount: 'reset',
      releaseCount: 'reset',
      generation: 1,
      seq: 'new',
    },
  };
}

function interrupted(reason: string) {
  return { status: 'running', reason, interrupted: true } as const;
}

async function enqueue(db: Database, job: MadeJob, more: Partial<NewJob>): Promise<void> {
  const { projectId, id, queue, type } = job;
  const again = { id, queue, type, payloadJson: '"again"', ...more };
  await enqueueJobs(db, { projectId, jobs: [again], mayRepeat: true });
}

function claimRequest(job: MadeJob) {
  return {
    projectId: job.projectId,
    workerId: randomUUID(),
    leaseToken: randomUUID(),
    leaseMs: 60_000,
    types: [job.claimName],
    limit: 10,
    suspectLimit: 10,
  };
}

async function claim(db: Database, job: MadeJob): Promise<void> {
  const lane = db.openLane('claims');
  const lanes = [{ queueId: job.queueId, priority: 5, afterSeq: '0' }];
  await claimJobs(lane, { ...claimRequest(job), lanes }).finally(() => lane.close());
}

async function claimWithinLimit(db: Database, job: MadeJob): Promise<void> {
  const lane = db.openLane('claims');
  const request = { ...claimRequest(job), queueId: job.queueId };
  await claimJobsWithinLimit(lane, request).finally(() => lane.close());
}

async function limitQueue(db: Database, { projectId, queue }: MadeJob): Promise<void> {
  await updateQueue(db, { projectId, name: queue, settings: { concurrency: 3 } });
}

async function requestCancel(db: Database, job: MadeJob): Promise<void> {
  await run(db, statements.requestCancel, [job.projectId, job.id, 'asked']);
}

/** Makes a scheduled job one that waits for another. */
function holdBack({ id }: MadeJob): string {
  return `update holdfast.jobs set pending_parents = 1, run_at = 'infinity'
    where id = '${id}' and status = 'scheduled'`;
}
