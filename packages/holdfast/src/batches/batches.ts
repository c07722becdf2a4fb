import { cancelBatch, readBatch, retryFailedOfBatch } from '@holdfast/database';
import { HoldfastError, isUuid } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import type { Internals } from '../internals.ts';
import type { RegisteredTransaction } from '../register.ts';
import type { WaitOptions } from '../wait-for-job.ts';
import type { BatchInfo } from './batch-info.ts';
import type { BatchEnqueueResult, BatchMember } from './batch-plan.ts';
import { listBatchesOf } from './list-batches.ts';
import type { BatchPage, ListBatchesOptions } from './list-batches.ts';
import { readMembers } from './read-members.ts';
import { requireBatchSize } from './require-batch-size.ts';
import { waitForBatch } from './wait-for-batch.ts';
import { writeMembers } from './write-batch.ts';

/** The batches, chains and graphs of a project. */
export class Batches<Tx = RegisteredTransaction> {
  readonly #internals: Internals;

  constructor(internals: Internals) {
    this.#internals = internals;
  }

  /** Reads a batch, chain or graph. @throws HoldfastError `batch_not_found` */
  async get(id: string): Promise<BatchInfo> {
    requireId('batches.get', id);
    return this.#internals.connection.useWithRetry(async ({ database, projectId }) => {
      const batch = await readBatch(database, { projectId, id });
      if (batch === undefined) throw notFound(id);
      return batch;
    });
  }

  /**
   * Waits until all members of a batch have ended, and the callbacks that they called for. A database that is away is
   * waited for as well, until the timeout or the signal; without them for as long as it takes.
   *
   * @throws HoldfastError `batch_not_found`; `wait_timed_out`; `database_refused`
   */
  async wait(id: string, options: WaitOptions = {}): Promise<BatchInfo> {
    requireId('batches.wait', id);
    return waitForBatch(this.#internals, id, options);
  }

  /** Lists batches, chains and graphs, the newest first and a page at a time. @throws OptionsInvalidError */
  list(options: ListBatchesOptions = {}): Promise<BatchPage> {
    return listBatchesOf(this.#internals, options);
  }

  /**
   * Adds jobs, or batches, chains and graphs, to a batch that has not finished; all or none.
   *
   * @throws HoldfastError `batch_not_found`; `batch_not_open` when it has finished or was cancelled;
   * `batch_member_exists` when an id belongs to something else; `batch_too_deep`; `batch_too_large`; and as
   * `holdfast.enqueue`
   */
  async add(
    id: string,
    members: BatchMember | readonly BatchMember[],
    options: { readonly tx?: Tx | undefined } = {},
  ): Promise<Omit<BatchEnqueueResult, 'id'>> {
    requireId('batches.add', id);
    const check = new OptionCheck('batches.add');
    check.names(options, ['tx']);
    // Array.isArray does not tell a readonly array from the rest.
    const list = Array.isArray(members) ? (members as readonly BatchMember[]) : [members];
    const read = readMembers(check, list as readonly BatchMember[]);
    check.done();
    requireBatchSize(read);
    return writeMembers(this.#internals, id, { members: read, tx: options.tx });
  }

  /**
   * Cancels a batch: it takes no more members, those that wait end at once, those that run are asked to end, and inner
   * batches are cancelled too. `then` and `catch` do not come any more; `finally` does.
   *
   * @returns how many jobs ended at once
   * @throws HoldfastError `batch_not_found`; `batch_not_open` when it has finished
   */
  async cancel(
    id: string,
    options: { readonly reason?: string | undefined } = {},
  ): Promise<{ readonly cancelledCount: number }> {
    requireId('batches.cancel', id);
    const check = new OptionCheck('batches.cancel');
    if (!check.names(options, ['reason'])) check.done();
    const reason = check.words('reason', options.reason) ?? 'cancelled';
    check.done();
    return this.#internals.connection.useWithRetry(async (open) => {
      const { database, projectId, notifier, settler } = open;
      const done = await cancelBatch(database, { projectId, id, reason });
      if (!done.cancelled) {
        const batch = await readBatch(database, { projectId, id });
        if (batch === undefined) throw notFound(id);
        // Maybe by an earlier try of this call, whose answer was lost.
        if (batch.cancelledAt !== undefined) return { cancelledCount: 0 };
        throw new HoldfastError(`The batch ${id} has finished`, { code: 'batch_not_open' });
      }
      for (const workerId of done.requestedOf) notifier.wakeWorker(workerId);
      settler.kick();
      return { cancelledCount: done.cancelledCount };
    });
  }

  /**
   * Replays every dead member of a batch, and of the batches in it, and retries those that rest in `failed`. The batch is
   * open again; callbacks that came before do not come twice.
   *
   * @throws HoldfastError `batch_not_found`
   */
  async retryFailed(id: string): Promise<{ readonly retriedCount: number }> {
    requireId('batches.retryFailed', id);
    return this.#internals.connection.useWithRetry(async (open) => {
      const { database, projectId, notifier, settler } = open;
      if ((await readBatch(database, { projectId, id })) === undefined) throw notFound(id);
      const { retriedCount, queueIds } = await retryFailedOfBatch(database, { projectId, id });
      notifier.wakeQueues(queueIds);
      settler.kick();
      return { retriedCount };
    });
  }
}

function notFound(id: string): HoldfastError {
  return new HoldfastError(`There is no batch ${id}`, { code: 'batch_not_found' });
}

/** Callers in plain JavaScript hand in what they have. */
function requireId(call: string, id: unknown): void {
  if (typeof id === 'string' && isUuid(id)) return;
  const check = new OptionCheck(call);
  check.refuse('the id of a batch is a UUID in lower case');
  check.done();
}
