import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkRun } from './support/check-run.ts';
import type { Run, ViolationKind } from './support/check-run.ts';
import type { LedgerEntry } from './support/ledger.ts';
import type { RecordedExecution, RecordedJob } from './support/records.ts';
import { ask } from './support/records.ts';
import { useArena } from './support/use-arena.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A run that a test may spoil. */
interface Draft {
  acknowledged: string[];
  unknown: string[];
  ledger: Mutable<LedgerEntry>[];
  jobs: Mutable<RecordedJob>[];
  executions: Mutable<RecordedExecution>[];
  lateResults: { jobId: string; executionSeq: number; status: 'completed'; result: unknown }[];
}

/**
 * A sound run of two jobs. The first lost its worker (1), was returned by the next (2), failed with another (3) and
 * completed (4), while its first worker was only frozen and reported late; the second completed at once.
 */
function soundRun(): Draft {
  return {
    acknowledged: ['a', 'b'],
    unknown: ['never arrived'],
    ledger: [
      entry('a', 1, { phase: 'start', atMs: 100, attempt: 1 }),
      entry('a', 2, { phase: 'start', atMs: 200, attempt: 1 }),
      entry('a', 2, { phase: 'threw', atMs: 210, attempt: 1 }),
      entry('a', 1, { phase: 'end', atMs: 250, attempt: 1 }),
      entry('a', 3, { phase: 'start', atMs: 300, attempt: 1 }),
      entry('a', 3, { phase: 'threw', atMs: 310, attempt: 1 }),
      entry('a', 4, { phase: 'start', atMs: 400, attempt: 2 }),
      entry('a', 4, { phase: 'end', atMs: 410, attempt: 2 }),
      entry('b', 1, { phase: 'start', atMs: 100, attempt: 1 }),
      entry('b', 1, { phase: 'end', atMs: 110, attempt: 1 }),
    ],
    jobs: [job('a', { attempt: 2, executionSeq: 4 }), job('b', { attempt: 1, executionSeq: 1 })],
    executions: [
      execution('a', 1, { status: 'running', attempt: 1, reason: 'lease_expired' }),
      execution('a', 2, { status: 'returned', attempt: 1, reason: 'drain' }),
      execution('a', 3, { status: 'failed', attempt: 1 }),
      execution('a', 4, { status: 'completed', attempt: 2 }),
      execution('b', 1, { status: 'completed', attempt: 1 }),
    ],
    lateResults: [{ jobId: 'a', executionSeq: 1, status: 'completed', result: 1 }],
  };
}

function entry(
  id: string,
  executionSeq: number,
  rest: Pick<LedgerEntry, 'phase' | 'atMs' | 'attempt'>,
): LedgerEntry {
  return { job: id, type: 'quick', executionSeq, workerPid: executionSeq, ...rest };
}

function job(id: string, rest: Partial<RecordedJob>): RecordedJob {
  return {
    ...{ id, type: 'quick', status: 'completed', attempt: 1, maxAttempts: 5, executionSeq: 1 },
    ...{ crashCount: 0, generation: 0, reason: null, result: null, lastError: null },
    ...rest,
  };
}

function execution(
  jobId: string,
  executionSeq: number,
  rest: Pick<RecordedExecution, 'status' | 'attempt'> & Partial<RecordedExecution>,
): RecordedExecution {
  const claimedAtMs = executionSeq * 100 - 1;
  const endedAtMs = executionSeq * 100 + 50;
  const isOpen = rest.status === 'running';
  return {
    ...{ jobId, executionSeq, generation: 0, reason: null, workerId: `worker ${executionSeq}` },
    ...{ workerPid: executionSeq, recordedAtMs: endedAtMs, claimedAtMs, startedAtMs: claimedAtMs },
    finishedAtMs: isOpen ? null : endedAtMs,
    leaseLostAtMs: isOpen ? endedAtMs : null,
    ...rest,
  };
}

function kindsOf(draft: Draft, options: Partial<Run> = {}): readonly ViolationKind[] {
  const { acknowledged, unknown, ledger, ...records } = draft;
  const violations = checkRun({ acknowledged, unknown, ledger, records, ...options });
  return [...new Set(violations.map(({ kind }) => kind))];
}

function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index);
  if (item === undefined) throw new RangeError(`No item ${index}`);
  return item;
}

describe('the checker', () => {
  it('finds nothing wrong with a sound run through faults', () => {
    expect(kindsOf(soundRun())).toEqual([]);
  });

  it.each<[ViolationKind, string, (draft: Draft) => void]>([
    ['lost', 'an acknowledged job is nowhere', ({ acknowledged }) => acknowledged.push('c')],
    ['invented', 'a job is there that nobody enqueued', (draft) => (draft.acknowledged = ['a'])],
    ['stored_twice', 'a job is there twice', ({ jobs }) => jobs.push(at(jobs, 1))],
    ['unfinished', 'a job still runs', ({ jobs }) => (at(jobs, 0).status = 'running')],
    [
      'ran_unrecorded',
      'an execution by another process',
      ({ ledger }) => ledger.push({ ...at(ledger, 8), workerPid: 99, atMs: 900 }),
    ],
    [
      'ran_unrecorded',
      'a job ran that is not there',
      ({ ledger }) => ledger.push({ ...at(ledger, 8), job: 'ghost' }),
    ],
    [
      'recorded_unrun',
      'a completed execution without a start',
      ({ ledger }) => ledger.splice(8, 2),
    ],
    ['recorded_unrun', 'a completed execution without an end', ({ ledger }) => ledger.splice(9, 1)],
    ['recorded_unrun', 'a failed execution that nobody ran', ({ ledger }) => ledger.splice(4, 2)],
    [
      'recorded_unrun',
      'a handler that threw is recorded as completed',
      ({ ledger }) => (at(ledger, 9).phase = 'threw'),
    ],
    [
      'started_twice',
      'a process started one execution twice',
      ({ ledger }) => ledger.push({ ...at(ledger, 8), atMs: 900 }),
    ],
    ['execution_missing', 'a gap', ({ executions }) => executions.splice(1, 1)],
    ['execution_missing', 'no first execution', ({ executions }) => executions.splice(0, 1)],
    [
      'execution_missing',
      'a later one is not recorded',
      ({ jobs }) => (at(jobs, 1).executionSeq = 2),
    ],
    [
      'execution_repeated',
      'an execution is recorded twice',
      ({ executions }) => executions.splice(2, 0, at(executions, 2)),
    ],
    [
      'leases_overlap',
      'a job was claimed before its lease had ended',
      ({ executions }) => (at(executions, 1).claimedAtMs = at(executions, 0).claimedAtMs + 1),
    ],
    [
      'handlers_overlap',
      'the next handler started before the last one had ended',
      ({ ledger }) => (at(ledger, 5).atMs = 405),
    ],
    [
      'wrong_end',
      'a job ran on after it had completed',
      ({ executions }) => (at(executions, 2).status = 'completed'),
    ],
    [
      'wrong_end',
      'a completed execution of a failed job',
      ({ jobs }) => (at(jobs, 1).status = 'dead_letter'),
    ],
    [
      'wrong_end',
      'a completed job whose execution failed',
      ({ executions }) => (at(executions, 4).status = 'failed'),
    ],
    [
      'wrong_attempt',
      'a return used up an attempt',
      ({ executions }) => (at(executions, 2).attempt = 2),
    ],
    [
      'wrong_attempt',
      'a failure used up none',
      ({ executions }) => (at(executions, 3).attempt = 1),
    ],
    ['wrong_attempt', 'the job counts wrong', ({ jobs }) => (at(jobs, 0).attempt = 3)],
    ['wrong_attempt', 'more attempts than allowed', ({ jobs }) => (at(jobs, 0).maxAttempts = 1)],
    [
      'late_without_loss',
      'a late result of an execution that ended in time',
      ({ lateResults }) => (at(lateResults, 0).executionSeq = 3),
    ],
  ])('finds %s: %s', (kind, _name, spoil) => {
    const draft = soundRun();
    // Each draft is made of fresh objects, so spoiling one spoils no other.
    spoil(draft);
    expect(kindsOf(draft)).toContain(kind);
  });

  it('finds that a job ran again although nothing had happened', () => {
    expect(kindsOf(soundRun(), { isFaultless: true })).toEqual(['ran_twice']);
  });

  it('excuses an unrecorded start only when the server crashed around it', () => {
    const draft = soundRun();
    draft.ledger.unshift(entry('b', 1, { phase: 'start', atMs: 50, attempt: 1 }));
    at(draft.ledger, 0).workerPid = 99;
    expect(kindsOf(draft)).toContain('ran_unrecorded');
    expect(kindsOf(draft, { serverCrashesAtMs: [60] })).toEqual([]);
    expect(kindsOf(draft, { serverCrashesAtMs: [600_000] })).toContain('ran_unrecorded');
  });

  it('excuses a late result of a number given twice only when the server crashed around it', () => {
    const draft = soundRun();
    at(draft.lateResults, 0).executionSeq = 3;
    expect(kindsOf(draft, { serverCrashesAtMs: [at(draft.ledger, 0).atMs] })).toContain(
      'late_without_loss',
    );
    const third = at(draft.ledger, 4);
    const { atMs } = third;
    draft.ledger.push({ ...third, workerPid: 99, atMs: atMs - 1 });
    expect(kindsOf(draft, { serverCrashesAtMs: [atMs] })).not.toContain('late_without_loss');
    expect(kindsOf(draft, { serverCrashesAtMs: [600_000] })).toContain('late_without_loss');
  });
});

describe('the checker on a real run', () => {
  const arena = useArena();

  async function kinds(): Promise<readonly ViolationKind[]> {
    return [...new Set((await arena().check()).map(({ kind }) => kind))];
  }

  it('reads what the handlers wrote and what the database has, and notices when either is wrong', async () => {
    await arena().startWorker();
    const types = Array.from({ length: 10 }, () => ({ type: 'quick' }));
    const [first = '', second = '', third = ''] = await arena().enqueue(types);
    await arena().untilQuiet();
    expect(await arena().check({ isFaultless: true })).toEqual([]);

    const forged = { ...at(arena().ledger(), 0), workerPid: 1, atMs: Number.MAX_SAFE_INTEGER };
    appendFileSync(arena().ledgerFile('stray'), `${JSON.stringify(forged)}\n`);
    expect(await kinds()).toEqual(['ran_unrecorded']);
    const execute = (sql: string, id: string) => ask(arena().database, sql, [id]);
    await execute('delete from holdfast.job_history where id = $1', first);
    expect(await kinds()).toContain('lost');
    await execute('delete from holdfast.job_executions where job_id = $1', second);
    expect(await kinds()).toContain('execution_missing');
    await execute(
      `insert into holdfast.job_late_results (project_id, job_id, execution_seq, status)
       select project_id, id, execution_seq, 'completed' from holdfast.job_history where id = $1`,
      third,
    );
    expect(await kinds()).toContain('late_without_loss');
  });
});
