import {
  checkLease,
  findStoredEnds,
  finishJobs,
  foreignQueryable,
  isConflict,
  isTransientError,
  lockLease,
} from '@holdfast/database';
import type { Database, Queryable } from '@holdfast/database';
import { HoldfastError, LeaseLostError } from '@holdfast/domain';
import type { Decision } from '@holdfast/domain';
import type { Clock, Logger } from '@holdfast/runtime';
import { abortForLostLease } from './executor.ts';
import { toFinished } from './finish-writer.ts';
import type { PendingFinish } from './finish-writer.ts';
import { Release } from './handler.ts';
import { leaseOf } from './held-job.ts';
import type { HeldJob, OwnTransaction } from './held-job.ts';
import { isInstanceOf } from './is-instance-of.ts';
import { monotonicMs } from './monotonic.ts';
import { safeJson } from './safe-json.ts';
import type { TransactionOpener } from './transaction-opener.ts';

/** What the transactions work with. */
export interface FencedTransactionsOptions {
  readonly opener: TransactionOpener;
  /** Where to look whether a commit without an answer took place. */
  readonly database: Database;
  readonly projectId: string;
  readonly workerId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves when what the job has logged is written: the end takes away the row that lets it be written. */
  readonly reportsWritten: (job: HeldJob) => Promise<void>;
  /** Writes that the job has started; answers whether its lease held. */
  readonly writeStart: (job: HeldJob) => Promise<boolean>;
  /** The end of the job is committed. */
  readonly onStored: (finish: PendingFinish) => void;
}

/** One transaction for the job. */
interface Attempt<Result> {
  /** The handler's function was called, and may have had effects elsewhere. */
  hasRun: boolean;
  end: { readonly finish: PendingFinish; readonly result: Result } | undefined;
}

interface Work<Result> {
  readonly job: HeldJob;
  readonly own: OwnTransaction;
  readonly run: (tx: unknown) => Promise<Result>;
  readonly attempt: Attempt<Result>;
}

const retryCapMs = 5_000;
const maxTries = 5;

/**
 * Runs handlers' functions in transactions that end the job as well: what the function wrote and the job's end are
 * committed together, or neither is. The lease token of the job's last statement is the fence.
 */
export class FencedTransactions {
  readonly #options: FencedTransactionsOptions;

  constructor(options: FencedTransactionsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with what `run` gave when the job is completed.
   *
   * @throws LeaseLostError when the lease is gone, and then nothing is written; whatever `run` or the database threw,
   *   and then nothing is written either; HoldfastError `transaction_open` or `transaction_committed` for a second call.
   */
  async run<Result>(job: HeldJob, run: (tx: unknown) => Promise<Result>): Promise<Result> {
    refuseSecond(job);
    let settle = (): void => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const own: OwnTransaction = { state: 'open', resultJson: undefined, settled };
    job.transaction = own;
    try {
      return await this.#transact(job, own, run);
    } finally {
      if (own.state !== 'committed') job.transaction = undefined;
      settle();
    }
  }

  /**
   * Makes sure, inside a transaction of the handler's own, that nobody can take the lease away before it ends.
   *
   * @throws LeaseLostError when the lease is gone.
   */
  async assertLease(job: HeldJob, tx: unknown): Promise<void> {
    // The lock would hold up the write of the start, and all that is written with it.
    const hasStarted = job.startReported || (await this.#options.writeStart(job));
    job.isRowLocked = true;
    const held = hasStarted && (await lockLease(this.#queryable(tx), this.#request(job)));
    if (held) return;
    job.isRowLocked = false;
    throw lost(job);
  }

  async #transact<Result>(
    job: HeldJob,
    own: OwnTransaction,
    run: (tx: unknown) => Promise<Result>,
  ): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const attempt: Attempt<Result> = { hasRun: false, end: undefined };
      try {
        await this.#options.opener.transaction((tx) => this.#work({ job, own, run, attempt }, tx));
        return this.#commit(job, own, attempt.end);
      } catch (error) {
        job.isRowLocked = false;
        // Until its last statement was answered nobody has asked for a commit.
        if (attempt.end !== undefined && (await this.#isStored(job, error))) {
          return this.#commit(job, own, attempt.end);
        }
        if (job.lost) throw lost(job);
        const mayRepeat = !attempt.hasRun && isConflict(error) && tries < maxTries;
        if (!mayRepeat) throw error;
      }
    }
  }

  /** What happens inside of the transaction. */
  async #work<Result>({ job, own, run, attempt }: Work<Result>, tx: unknown): Promise<void> {
    // A library may repeat the whole after a conflict.
    attempt.end = undefined;
    own.state = 'open';
    const db = this.#queryable(tx);
    const lease = await checkLease(db, this.#request(job));
    if (lease === undefined) throw lost(job);
    if (lease.seesSnapshot) await this.#keepRow(db, job);
    attempt.hasRun = true;
    const result = await run(tx);
    // Looked at again: the function may have ended the transaction by itself, and then nothing fences the end.
    const finish = await this.#writeEnd(this.#queryable(tx), { job, own, result });
    attempt.end = { finish, result };
  }

  /** Keeps everybody, the engine's own writes too, from changing the job's row before the transaction does. */
  async #keepRow(db: Queryable, job: HeldJob): Promise<void> {
    job.startReported = true;
    job.isRowLocked = true;
    if (!(await lockLease(db, this.#request(job)))) throw lost(job);
  }

  #commit<Result>(job: HeldJob, own: OwnTransaction, end: Attempt<Result>['end']): Result {
    if (end === undefined) throw new TypeError('The transaction did not wait for its function');
    own.state = 'committed';
    job.isRowLocked = false;
    job.finishedAtMs ||= monotonicMs();
    this.#options.onStored(end.finish);
    return end.result;
  }

  async #writeEnd(
    db: Queryable,
    end: { readonly job: HeldJob; readonly own: OwnTransaction; readonly result: unknown },
  ): Promise<PendingFinish> {
    const { job, own, result } = end;
    if (isInstanceOf(result, Release)) {
      throw new HoldfastError('A transaction that completes the job cannot release it', {
        code: 'release_in_transaction',
      });
    }
    await this.#options.reportsWritten(job);
    // The attempt was ended from outside; its end is on its way.
    if (job.finishedAtMs !== 0) throw new LeaseLostError();
    own.state = 'ending';
    own.resultJson = safeJson(result).json;
    job.startReported = true;
    const { transition, ...rest } = completed;
    const decision: Decision = { transition, ...rest, resultJson: own.resultJson };
    const { projectId } = this.#options;
    const jobs = [toFinished({ job, decision })];
    const ids = await finishJobs(db, { projectId, transition, jobs });
    if (!ids.has(job.claimed.id)) throw lost(job);
    return { job, decision };
  }

  /**
   * Whether the commit took place although its answer was an error, or never came. The end is still being committed for
   * as long as its row is locked.
   */
  async #isStored(job: HeldJob, cause: unknown): Promise<boolean> {
    const { database, projectId, workerId, logger, clock } = this.#options;
    logger.warn({ err: cause, jobId: job.claimed.id }, 'commit of a handler’s transaction failed');
    for (let tries = 1; ; tries += 1) {
      try {
        if (await lockLease(database, this.#request(job))) return false;
        const jobs = [job.claimed];
        const stored = await findStoredEnds(database, { projectId, workerId, jobs });
        job.lost ||= stored.size === 0;
        return stored.size > 0;
      } catch (error) {
        logger.warn({ err: error, tries }, 'look-up of a commit failed');
        // Not known: if it took place, the write of this attempt's failure finds the end stored.
        if (!isTransientError(error)) return false;
        await clock.sleep(Math.random() * Math.min(retryCapMs, 50 * 2 ** tries));
      }
    }
  }

  #queryable(tx: unknown): Queryable {
    const { opener, database } = this.#options;
    return foreignQueryable(opener.toQueryable(tx), database.schema);
  }

  #request(job: HeldJob) {
    return { projectId: this.#options.projectId, lease: leaseOf(job) };
  }
}

const completed = { transition: 'complete_jobs', executionStatus: 'completed' } as const;

function refuseSecond({ transaction }: HeldJob): void {
  if (transaction === undefined) return;
  const isOver = transaction.state === 'committed';
  throw new HoldfastError(
    isOver
      ? 'An earlier transaction has completed the job already'
      : 'Another transaction that completes the job is open',
    { code: isOver ? 'transaction_committed' : 'transaction_open' },
  );
}

function lost(job: HeldJob): LeaseLostError {
  abortForLostLease(job);
  return new LeaseLostError();
}
