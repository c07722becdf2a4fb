import type { JobEvidence, Run, Violation, ViolationKind } from './check-run.ts';
import type { LedgerEntry } from './ledger.ts';
import type { RecordedExecution } from './records.ts';

/** How long before a crash of the server a claim may have been made and not yet be on disk, and be started after. */
const forgottenClaim = { beforeMs: 2_000, afterMs: 5_000 } as const;

/** One start of a handler and what is known of its end. */
interface Stay {
  readonly start: LedgerEntry;
  readonly end: LedgerEntry | undefined;
  readonly execution: RecordedExecution | undefined;
}

/** Judges what handlers wrote about one job against its recorded executions. */
export function checkHandlers(evidence: JobEvidence, run: Run): readonly Violation[] {
  const violations: Violation[] = [];
  const blame = (kind: ViolationKind, detail: string): void => {
    violations.push({ kind, job: evidence.job.id, detail });
  };
  const stays = evidence.entries
    .filter((entry) => entry.phase === 'start')
    .map((start) => toStay(start, evidence))
    .filter((stay, index, all) => !isExcused(stay, all.slice(index + 1), run));
  for (const stay of stays) {
    const { executionSeq, workerPid } = stay.start;
    if (stay.execution === undefined) {
      blame('ran_unrecorded', `execution ${executionSeq} by process ${workerPid}`);
    }
  }
  for (const execution of evidence.executions) checkWasRun(execution, stays, blame);
  checkOverlaps(stays, blame);
  if (run.isFaultless === true && (stays.length !== 1 || evidence.executions.length !== 1)) {
    blame('ran_twice', `${stays.length} starts, ${evidence.executions.length} executions`);
  }
  return violations;
}

function toStay(start: LedgerEntry, { executions, entries }: JobEvidence): Stay {
  const { executionSeq, workerPid } = start;
  return {
    start,
    end: entries.find(
      (entry) =>
        entry.phase !== 'start' &&
        entry.executionSeq === executionSeq &&
        entry.workerPid === workerPid &&
        entry.atMs >= start.atMs,
    ),
    execution: executions.find(
      (each) => each.executionSeq === executionSeq && each.workerPid === workerPid,
    ),
  };
}

/** Whether a crash of the server undid the claim: it is not recorded, or a later start has its number. */
function isExcused(stay: Stay, later: readonly Stay[], run: Run): boolean {
  const { atMs, executionSeq } = stay.start;
  const isReplaced = later.some(({ start }) => start.executionSeq === executionSeq);
  if (stay.execution !== undefined && !isReplaced) return false;
  return mayBeForgotten(atMs, run);
}

/** Whether a crash of the server may have undone the claim of a handler that started at this instant. */
export function mayBeForgotten(atMs: number, { serverCrashesAtMs = [] }: Run): boolean {
  const { beforeMs, afterMs } = forgottenClaim;
  return serverCrashesAtMs.some((crashMs) => atMs > crashMs - beforeMs && atMs < crashMs + afterMs);
}

function checkWasRun(
  execution: RecordedExecution,
  stays: readonly Stay[],
  blame: (kind: ViolationKind, detail: string) => void,
): void {
  const { status, executionSeq } = execution;
  const own = stays.filter((stay) => stay.execution === execution);
  if (own.length > 1) blame('started_twice', `execution ${executionSeq}`);
  const hasEnded = own.some(({ end }) => end?.phase === 'end');
  const isRunKnown = ['failed', 'timed_out', 'released'].includes(status);
  if ((isRunKnown && own.length === 0) || (status === 'completed' && !hasEnded)) {
    blame('recorded_unrun', `execution ${executionSeq} is ${status}`);
  }
}

/** Two handlers of one job at once are excused only when the first had lost its right to run before. */
function checkOverlaps(
  stays: readonly Stay[],
  blame: (kind: ViolationKind, detail: string) => void,
): void {
  for (const [index, next] of stays.entries()) {
    for (const earlier of stays.slice(0, index)) {
      if (next.start.atMs >= (earlier.end?.atMs ?? Infinity)) continue;
      const status = earlier.execution?.status ?? 'unrecorded';
      if (['running', 'returned', 'timed_out', 'cancelled'].includes(status)) continue;
      const seqs = `${earlier.start.executionSeq} and ${next.start.executionSeq}`;
      blame('handlers_overlap', `executions ${seqs}; the first is ${status}`);
    }
  }
}
