import { claimJobs, finishJobs, listClaimableQueues, settleEndings } from '@holdfast/database';
import { randomUUID } from 'node:crypto';
import type { ClaimedJob, Database } from '@holdfast/database';
import type { Decision } from '@holdfast/domain';

/** How a handler of a test ends. */
export type Ending = 'complete' | 'die';

const decisions: Readonly<Record<Ending, Decision>> = {
  complete: { transition: 'complete_jobs', executionStatus: 'completed' },
  die: {
    transition: 'dead_letter_jobs',
    executionStatus: 'failed',
    reason: 'non_retryable',
    error: { code: 'handler_failed', message: 'No', fingerprint: 'test:no' },
  },
};

/**
 * Works every due job of the types, round by round, and settles in between, until nothing is due any more.
 *
 * @returns the types in the order in which they ran; jobs of one round are sorted by type.
 */
export async function runJobs(
  database: Database,
  options: {
    readonly projectId: string;
    readonly types: readonly string[];
    readonly ending?: (job: ClaimedJob) => Ending;
    /** False to leave the ends unsettled, and to stop after the first round. */
    readonly settles?: boolean;
  },
): Promise<readonly string[]> {
  const { settles = true } = options;
  const ran: string[] = [];
  const lane = database.openLane('claims');
  try {
    for (;;) {
      if (settles) await settleAll(database);
      const jobs = await claimDue(database, lane, options);
      if (jobs.length === 0) return ran;
      ran.push(...jobs.map(({ type }) => type).sort());
      await endJobs(database, options.projectId, jobs, options.ending ?? (() => 'complete'));
      if (!settles) return ran;
    }
  } finally {
    await lane.close();
  }
}

/** Settles until nothing is left. */
export async function settleAll(database: Database): Promise<void> {
  for (;;) {
    const { count, more } = await settleEndings(database);
    if (count === 0 && !more) return;
  }
}

async function claimDue(
  database: Database,
  lane: ReturnType<Database['openLane']>,
  { projectId, types }: { readonly projectId: string; readonly types: readonly string[] },
): Promise<readonly ClaimedJob[]> {
  const queues = await listClaimableQueues(database, { projectId, names: undefined });
  return claimJobs(lane, {
    ...{ projectId, types, limit: 10_000, suspectLimit: 0, leaseMs: 60_000 },
    ...{ workerId: randomUUID(), leaseToken: randomUUID() },
    lanes: queues.map(({ id }) => ({ queueId: id, priority: 5, afterSeq: '0' })),
  });
}

async function endJobs(
  database: Database,
  projectId: string,
  jobs: readonly ClaimedJob[],
  endingOf: (job: ClaimedJob) => Ending,
): Promise<void> {
  for (const ending of ['complete', 'die'] as const) {
    const own = jobs.filter((job) => endingOf(job) === ending);
    if (own.length === 0) continue;
    const decision = decisions[ending];
    const finished = own
      .map((job) => ({
        ...{ id: job.id, token: job.leaseToken, executionSeq: job.executionSeq },
        ...{ startedAgoMs: 2, finishedAgoMs: 1 },
        decision: ending === 'die' ? decision : { ...decision, resultJson: `"${job.type} done"` },
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    await finishJobs(database, { projectId, transition: decision.transition, jobs: finished });
  }
}
