import type { JobEvidence, Violation, ViolationKind } from './check-run.ts';
import type { RecordedExecution, RecordedJob } from './records.ts';

type Blame = (kind: ViolationKind, detail: string) => void;

/** Whether the attempt of such an execution was given back, by the rules of the product. */
function isRefunded(execution: RecordedExecution): boolean {
  const { status, reason } = execution;
  // The crash that convicts a poison pill is its last attempt.
  if (status === 'running') return reason !== 'poison_pill';
  return status === 'returned' || status === 'released';
}

/** Judges what is recorded of one job by itself. */
export function checkExecutions({ job, executions }: JobEvidence): readonly Violation[] {
  const violations: Violation[] = [];
  const blame: Blame = (kind, detail) => {
    violations.push({ kind, job: job.id, detail });
  };
  let usedAttempts = 0;
  for (const [index, execution] of executions.entries()) {
    const previous = executions[index - 1];
    const { executionSeq, attempt, generation } = execution;
    const label = `execution ${executionSeq}`;
    if (previous !== undefined) checkSuccession(previous, execution, blame);
    else if (executionSeq !== 1) blame('execution_missing', `${label} is the first`);
    if (previous !== undefined && generation !== previous.generation) usedAttempts = 0;
    if (attempt !== usedAttempts + 1) {
      blame('wrong_attempt', `${label} was attempt ${attempt} after ${usedAttempts} used`);
    }
    if (!isRefunded(execution)) usedAttempts += 1;
  }
  checkTotals(job, { lastSeq: executions.at(-1)?.executionSeq ?? 0, usedAttempts }, blame);
  return violations;
}

function checkTotals(
  job: RecordedJob,
  counted: { readonly lastSeq: number; readonly usedAttempts: number },
  blame: Blame,
): void {
  const { lastSeq, usedAttempts } = counted;
  if (lastSeq !== job.executionSeq) {
    blame('execution_missing', `the job counts ${job.executionSeq}, the last is ${lastSeq}`);
  }
  if (usedAttempts !== job.attempt || job.attempt > job.maxAttempts) {
    blame('wrong_attempt', `the job counts ${job.attempt} of ${job.maxAttempts}`);
  }
}

function checkSuccession(previous: RecordedExecution, next: RecordedExecution, blame: Blame): void {
  const label = `executions ${previous.executionSeq} and ${next.executionSeq}`;
  if (next.executionSeq === previous.executionSeq) blame('execution_repeated', label);
  else if (next.executionSeq !== previous.executionSeq + 1) blame('execution_missing', label);
  const heldUntilMs = previous.leaseLostAtMs ?? previous.finishedAtMs ?? Infinity;
  if (next.claimedAtMs < heldUntilMs) blame('leases_overlap', label);
  if (previous.status === 'completed') blame('wrong_end', `${label}: the first completed`);
}
