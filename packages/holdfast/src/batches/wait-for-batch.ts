import { readBatch } from '@holdfast/database';
import type { BatchView } from '@holdfast/database';
import { decideBatch, HoldfastError } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { OptionCheck } from '../check-options.ts';
import type { Internals } from '../internals.ts';
import type { WaitOptions } from '../wait-for-job.ts';
import { toBatchInfo } from './batch-info.ts';
import type { BatchInfo } from './batch-info.ts';

const firstPauseMs = 20;
const longestPauseMs = 250;

/**
 * Waits until all members of a batch have ended, and all callbacks that they called for. Looks again and again.
 *
 * @throws HoldfastError `batch_not_found`, `wait_timed_out`
 */
export async function waitForBatch(
  { connection }: Internals,
  id: string,
  options: WaitOptions,
): Promise<BatchInfo> {
  const check = new OptionCheck('batches.wait');
  check.names(options, ['timeout', 'signal']);
  const timeoutMs = check.duration('timeout', options.timeout) ?? Infinity;
  check.done();
  const untilMs = systemClock.monotonicMs() + timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const batch = await connection.useWithRetry(({ database, projectId }) =>
      readBatch(database, { projectId, id }),
    );
    if (batch === undefined) {
      throw new HoldfastError(`There is no batch ${id}`, { code: 'batch_not_found' });
    }
    if (isClosed(batch)) return toBatchInfo(batch);
    options.signal?.throwIfAborted();
    const leftMs = untilMs - systemClock.monotonicMs();
    if (leftMs <= 0) {
      const message = `The batch ${id} has not ended in time: it is ${batch.status}`;
      throw new HoldfastError(message, { code: 'wait_timed_out' });
    }
    await systemClock.sleep(Math.min(pauseMs, leftMs), options.signal);
  }
}

function isClosed({ callbacks, finishedAt, cancelledAt, ...batch }: BatchView): boolean {
  const { isClosed: hasNothingLeft } = decideBatch({
    ...batch,
    isCancelled: cancelledAt !== undefined,
    callbacks: callbacks.map(({ role, percent, enqueuedAt, endedAt }) => ({
      ...{ role, percent },
      isEnqueued: enqueuedAt !== null,
      hasEnded: endedAt !== null,
    })),
  });
  return finishedAt !== undefined && hasNothingLeft;
}
