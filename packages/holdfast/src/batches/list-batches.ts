import { listBatches } from '@holdfast/database';
import { batchKinds } from '@holdfast/domain';
import type { BatchKind } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import type { Internals } from '../internals.ts';
import { cutPage, readCursor, readPageLimit } from '../list-page.ts';
import type { BatchInfo } from './batch-info.ts';

/** Which batches are listed. */
export interface ListBatchesOptions {
  readonly kind?: BatchKind | undefined;
  /** At most 200; default 50. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of batches, chains and graphs. */
export interface BatchPage {
  readonly batches: readonly BatchInfo[];
  /** For the next page; `undefined` when there is none. */
  readonly nextCursor: string | undefined;
}

/** Lists batches, chains and graphs, the newest first. @throws OptionsInvalidError */
export async function listBatchesOf(
  { connection }: Internals,
  options: ListBatchesOptions,
): Promise<BatchPage> {
  const { limit, ...filter } = readOptions(options);
  return connection.useWithRetry(async ({ database, projectId }) => {
    // One more tells whether there is a next page.
    const rows = await listBatches(database, { ...filter, projectId, limit: limit + 1 });
    const { page, nextCursor } = cutPage('batches', rows, limit);
    return { batches: page, nextCursor };
  });
}

function readOptions(options: ListBatchesOptions) {
  const check = new OptionCheck('batches.list');
  if (!check.names(options, ['kind', 'limit', 'cursor'])) check.done();
  const limit = readPageLimit(check, options.limit);
  const kind = check.oneOf('kind', options.kind, batchKinds);
  const beforeId = readCursor(check, 'batches', options.cursor);
  check.done();
  return { limit, kind, beforeId };
}
