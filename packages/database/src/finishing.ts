import type { Decision } from '@holdfast/domain';
import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Lease } from './leases.ts';
import type { Queryable, SqlValue } from './queryable.ts';

/** An attempt that ended, with what was decided about it. */
export interface FinishedJob extends Lease {
  readonly executionSeq: number;
  readonly startedAgoMs: number;
  readonly finishedAgoMs: number;
  readonly decision: Decision;
}

type Columns = (jobs: readonly FinishedJob[]) => readonly SqlValue[];

const leases: Columns = (jobs) => [
  plainArray(jobs.map((job) => job.id)),
  plainArray(jobs.map((job) => job.token)),
];
const times: Columns = (jobs) => [
  plainArray(jobs.map((job) => inMicroseconds(job.startedAgoMs))),
  plainArray(jobs.map((job) => inMicroseconds(job.finishedAgoMs))),
];
const reasons: Columns = (jobs) => [textArray(jobs.map((job) => job.decision.reason))];
const errors: Columns = (jobs) => [
  textArray(jobs.map(({ decision }) => decision.error && JSON.stringify(decision.error))),
];
const delays: Columns = (jobs) => [plainArray(jobs.map((job) => job.decision.delayMs ?? 0))];
const executionStatuses: Columns = (jobs) => [
  plainArray(jobs.map((job) => job.decision.executionStatus)),
];
const results: Columns = (jobs) => [textArray(jobs.map((job) => job.decision.resultJson))];

/** Milliseconds to the microsecond, which is what the database keeps; a whole number is written several times faster. */
function inMicroseconds(ms: number): string {
  return `${String(Math.round(ms * 1_000))}e-3`;
}

/** For each transition its statement and, in the order of its parameters, the columns that it takes. */
const finishing = {
  complete_jobs: { statement: statements.completeJobs, columns: [leases, times, results] },
  retry_jobs: {
    statement: statements.retryJobs,
    columns: [leases, times, executionStatuses, reasons, errors, delays],
  },
  fail_jobs: {
    statement: statements.failJobs,
    columns: [leases, times, executionStatuses, reasons, errors],
  },
  dead_letter_jobs: {
    statement: statements.deadLetterJobs,
    columns: [leases, times, executionStatuses, reasons, errors],
  },
  release_jobs: { statement: statements.releaseJobs, columns: [leases, times, reasons, delays] },
  return_jobs: { statement: statements.returnJobs, columns: [leases, reasons] },
  abandon_jobs: { statement: statements.abandonJobs, columns: [leases, errors] },
} as const satisfies Record<Decision['transition'], unknown>;

/**
 * Writes the ends of attempts that share one transition, in one statement. The jobs must be in id order, so that two
 * flushes cannot lock each other out.
 *
 * @returns the ids whose lease still held; for the others nothing changed.
 */
export async function finishJobs(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly transition: Decision['transition'];
    readonly jobs: readonly FinishedJob[];
  },
): Promise<ReadonlySet<string>> {
  const { statement, columns } = finishing[request.transition];
  const values = columns.flatMap((column) => column(request.jobs));
  const rows = await db.query<{ readonly id: string }>(statement, [request.projectId, ...values]);
  return new Set(rows.map((row) => row.id));
}

/**
 * Which of the executions this worker has ended already. A write whose answer was lost finds nothing when it is
 * repeated, just as a write after a lost lease does; this tells the two apart.
 *
 * @returns the ids of the jobs whose end is stored.
 */
export async function findStoredEnds(
  db: Queryable,
  request: {
    readonly projectId: string;
    readonly workerId: string;
    readonly jobs: readonly { readonly id: string; readonly executionSeq: number }[];
  },
): Promise<ReadonlySet<string>> {
  const { projectId, workerId, jobs } = request;
  const rows = await db.query<{ readonly id: string }>(statements.findStoredEnds, [
    projectId,
    plainArray(jobs.map((job) => job.id)),
    plainArray(jobs.map((job) => job.executionSeq)),
    workerId,
  ]);
  return new Set(rows.map((row) => row.id));
}

/** Keeps the report of a worker that had lost its lease beside its own execution; it changes nothing else. */
export async function recordLateResult(
  db: Queryable,
  request: { readonly projectId: string; readonly workerId: string; readonly job: FinishedJob },
): Promise<void> {
  const { decision, id, executionSeq } = request.job;
  await db.query(statements.recordLateResult, [
    request.projectId,
    id,
    executionSeq,
    decision.executionStatus,
    decision.resultJson ?? null,
    decision.error === undefined ? null : JSON.stringify(decision.error),
    request.workerId,
  ]);
}
