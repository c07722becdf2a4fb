import { enqueueJobs } from '@holdfast/database';
import type { NewJob } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { queueName } from './bench-server.ts';
import type { BenchServer } from './bench-server.ts';

/** About a hundred bytes, as most payloads are. */
export const payloadJson = JSON.stringify({
  customer: 'c-1029384756',
  order: 5_647_382_910,
  template: 'order-confirmation',
  locale: 'en-GB',
});

/** The type of the job that does nothing. */
export const noopType = 'noop';

/** How many jobs go into one insert of a bulk. */
export const bulkBatch = 5_000;

/** New jobs that do nothing. */
export function makeJobs(count: number): readonly NewJob[] {
  return Array.from({ length: count }, () => makeJob());
}

/** A new job that does nothing. */
export function makeJob(): NewJob {
  return { id: uuidV7(Date.now()), queue: queueName, type: noopType, payloadJson };
}

/** Splits a list into lists of at most `size`. */
export function inBatches<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += size) {
    batches.push(items.slice(start, start + size));
  }
  return batches;
}

/** Puts jobs into an empty queue and lets the server come to rest. */
export async function fillQueue(server: BenchServer, count: number): Promise<void> {
  await server.clear();
  const { database, projectId } = server;
  for (let left = count; left > 0; left -= bulkBatch) {
    const jobs = makeJobs(Math.min(left, bulkBatch));
    await enqueueJobs(database, { projectId, jobs });
  }
  await server.settle();
}
