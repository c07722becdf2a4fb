import { readBatch } from '@holdfast/database';
import type { BatchView } from '@holdfast/database';
import { decideBatch, HoldfastError, notEndedInTime } from '@holdfast/domain';
import type { BatchStatus } from '@holdfast/domain';
import type { OpenConnection } from '../connection.ts';
import type { Internals } from '../internals.ts';
import { pollUntil } from '../poll-until.ts';
import { readWaitOptions } from '../wait-for-job.ts';
import type { WaitOptions } from '../wait-for-job.ts';
import type { BatchInfo } from './batch-info.ts';

/**
 * Waits until all members of a batch have ended, and all callbacks that they called for. Looks again and again, less
 * often with time. A database that does not answer is waited for as well.
 *
 * @throws OptionsInvalidError; HoldfastError `batch_not_found`, `wait_timed_out`, `database_refused` when the server does not
 * let the program in, `closed`
 */
export function waitForBatch(
  { connection }: Internals,
  id: string,
  options: WaitOptions,
): Promise<BatchInfo> {
  let status: BatchStatus | undefined;
  const lookOnce = async ({ database, projectId }: OpenConnection) => {
    const batch = await readBatch(database, { projectId, id });
    if (batch === undefined) {
      throw new HoldfastError(`There is no batch ${id}`, { code: 'batch_not_found' });
    }
    ({ status } = batch);
    return isClosed(batch) ? batch : undefined;
  };
  return pollUntil({
    ...readWaitOptions('batches.wait', options),
    logger: connection.logger,
    look: (useOptions) => connection.useWithRetry(lookOnce, useOptions),
    timeoutError: (cause) =>
      new HoldfastError(notEndedInTime(`The batch ${id}`, status), {
        code: 'wait_timed_out',
        cause,
      }),
  });
}

function isClosed({ callbacks, finishedAt, cancelledAt, ...batch }: BatchView): boolean {
  const { isClosed: hasNothingLeft } = decideBatch({
    ...batch,
    isCancelled: cancelledAt !== undefined,
    callbacks: callbacks.map(({ role, percent, enqueuedAt, endedAt }) => ({
      ...{ role, percent },
      isEnqueued: enqueuedAt !== undefined,
      hasEnded: endedAt !== undefined,
    })),
  });
  return finishedAt !== undefined && hasNothingLeft;
}
