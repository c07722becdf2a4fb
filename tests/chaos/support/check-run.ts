import { checkExecutions } from './check-executions.ts';
import { checkHandlers, mayBeForgotten } from './check-handlers.ts';
import type { LedgerEntry } from './ledger.ts';
import type { LateResult, RecordedExecution, RecordedJob, Records } from './records.ts';

/** What is wrong with a run. */
export type ViolationKind =
  /** An acknowledged job is nowhere. */
  | 'lost'
  /** A job is there that nobody enqueued. */
  | 'invented'
  /** A job is there more than once. */
  | 'stored_twice'
  /** A job is not at its end although all faults are over. */
  | 'unfinished'
  /** A handler started, and no execution of that number by that process is recorded. */
  | 'ran_unrecorded'
  /** An execution has an outcome, and no handler started, or it completed and none ended. */
  | 'recorded_unrun'
  /** Two handlers started as the same execution. */
  | 'started_twice'
  /** The numbers of a job's executions have a gap. */
  | 'execution_missing'
  /** Two executions have one number. */
  | 'execution_repeated'
  /** Two executions held the job at the same time. */
  | 'leases_overlap'
  /** Two handlers ran the job at the same time, and the first of them had not lost its right to. */
  | 'handlers_overlap'
  /** A job ran again after it had completed, or its status is not what its last execution says. */
  | 'wrong_end'
  /** An attempt is not counted by the rules of refunds, or there are too many. */
  | 'wrong_attempt'
  /** A late result stands beside an execution that its worker had ended in time. */
  | 'late_without_loss'
  /** A job ran more than once although nothing had happened to it. */
  | 'ran_twice';

export interface Violation {
  readonly kind: ViolationKind;
  readonly job: string;
  readonly detail: string;
}

/** What a run is judged by. */
export interface Run {
  /** Ids whose enqueueing was confirmed. */
  readonly acknowledged: readonly string[];
  /** Ids whose enqueueing had no answer; they may exist or not. */
  readonly unknown?: readonly string[];
  readonly ledger: readonly LedgerEntry[];
  readonly records: Records;
  /** No fault was made: each job must have run exactly once. */
  readonly isFaultless?: boolean;
  /**
   * When the database server was crashed, by the ledger's clock. A claim is the one thing that a crash may undo,
   * because nobody is told of it: such an execution ran unrecorded, and its number is given again.
   */
  readonly serverCrashesAtMs?: readonly number[];
}

/** One job with everything that is known about it. */
export interface JobEvidence {
  readonly job: RecordedJob;
  /** In the order of their numbers. */
  readonly executions: readonly RecordedExecution[];
  /** In the order of time. */
  readonly entries: readonly LedgerEntry[];
}

const restingStatuses: readonly string[] = ['completed', 'failed', 'dead_letter', 'cancelled'];

/**
 * Holds what the handlers wrote against what the database recorded, and both against the promises: nothing lost,
 * nothing run by two at once, everything recorded, every end reached. Answers every violation; none is a clean run.
 */
export function checkRun(run: Run): readonly Violation[] {
  const evidence = gather(run);
  return [
    ...checkPresence(run),
    ...evidence.flatMap((each) => [
      ...checkEnd(each),
      ...checkExecutions(each),
      ...checkHandlers(each, run),
    ]),
    ...checkLateResults(run),
  ];
}

function gather(run: Run): readonly JobEvidence[] {
  const { jobs, executions } = run.records;
  const executionsOf = new Map<string, RecordedExecution[]>();
  for (const execution of executions) push(executionsOf, execution.jobId, execution);
  const entriesOf = new Map<string, LedgerEntry[]>();
  for (const entry of run.ledger) push(entriesOf, entry.job, entry);
  return jobs.map((job) => ({
    job,
    executions: executionsOf.get(job.id) ?? [],
    entries: entriesOf.get(job.id) ?? [],
  }));
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function checkPresence(run: Run): readonly Violation[] {
  const violations: Violation[] = [];
  const counts = new Map<string, number>();
  for (const { id } of run.records.jobs) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const job of run.acknowledged) {
    if (!counts.has(job)) violations.push({ kind: 'lost', job, detail: 'acknowledged' });
  }
  const known = new Set([...run.acknowledged, ...(run.unknown ?? [])]);
  for (const [job, count] of counts) {
    if (count > 1) violations.push({ kind: 'stored_twice', job, detail: `${count} rows` });
    if (!known.has(job)) violations.push({ kind: 'invented', job, detail: 'never enqueued' });
  }
  for (const { job } of run.ledger) {
    if (!counts.has(job)) violations.push({ kind: 'ran_unrecorded', job, detail: 'no such job' });
  }
  return violations;
}

function checkEnd({ job, executions }: JobEvidence): readonly Violation[] {
  if (!restingStatuses.includes(job.status)) {
    return [{ kind: 'unfinished', job: job.id, detail: job.status }];
  }
  const last = executions.at(-1);
  const isCompleted = last?.status === 'completed';
  if ((job.status === 'completed') === isCompleted) return [];
  const detail = `job ${job.status}, last execution ${last?.status ?? 'none'}`;
  return [{ kind: 'wrong_end', job: job.id, detail }];
}

function checkLateResults(run: Run): readonly Violation[] {
  const { records } = run;
  const endedInTime = new Set(
    records.executions
      .filter(({ status }) => !['running', 'returned', 'cancelled'].includes(status))
      .map(({ jobId, executionSeq }) => `${jobId}/${executionSeq}`),
  );
  return records.lateResults
    .filter(({ jobId, executionSeq }) => endedInTime.has(`${jobId}/${executionSeq}`))
    .filter((late) => !wasGivenAgain(late, run))
    .map(({ jobId, executionSeq, status }) => ({
      kind: 'late_without_loss',
      job: jobId,
      detail: `execution ${executionSeq}, reported ${status}`,
    }));
}

/** Whether a crash of the server undid a claim and its number was given again, to the same worker even. */
function wasGivenAgain({ jobId, executionSeq }: LateResult, run: Run): boolean {
  const starts = run.ledger.filter(
    (entry) =>
      entry.phase === 'start' && entry.job === jobId && entry.executionSeq === executionSeq,
  );
  return starts.length > 1 && starts.some(({ atMs }) => mayBeForgotten(atMs, run));
}
