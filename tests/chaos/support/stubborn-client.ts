import { createEnqueuer, createNotifier, enqueueJobs, isTransientError } from '@holdfast/database';
import type { Database, NewJob } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { waitFor } from '@holdfast/testing';
import { ask } from './records.ts';

/** What a client learned of its calls. */
export interface CallLog {
  /** The insert was confirmed at the first call. */
  readonly confirmed: string[];
  /** The first call had no answer; a repetition with the same id settled it. */
  readonly settled: string[];
}

/**
 * Enqueues one job after the other from several callers at once until `count` are acknowledged. A call without an
 * answer is repeated with the same id once the server answers again, as a careful client does.
 */
export async function enqueueThroughFaults(options: {
  readonly database: Database;
  readonly projectId: string;
  readonly callers: number;
  readonly count: number;
  readonly onAcknowledged: (total: number) => void;
}): Promise<CallLog> {
  const { database, projectId, callers, count, onAcknowledged } = options;
  const notifier = createNotifier(database);
  const enqueuer = createEnqueuer(database, notifier);
  const log: CallLog = { confirmed: [], settled: [] };
  let begun = 0;
  const call = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const job: NewJob = {
        id: uuidV7(Date.now()),
        queue: 'work',
        type: 'quick',
        payloadJson: '{}',
      };
      try {
        await enqueuer.enqueue(projectId, job);
        log.confirmed.push(job.id);
      } catch (error) {
        if (!isTransientError(error)) throw error;
        await settle(database, projectId, job);
        log.settled.push(job.id);
      }
      onAcknowledged(log.confirmed.length + log.settled.length);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  await notifier.close();
  return log;
}

async function settle(database: Database, projectId: string, job: NewJob): Promise<void> {
  const repeat = async (): Promise<true> => {
    await ask(database, 'select 1 as one');
    await enqueueJobs(database, { projectId, jobs: [job], mayRepeat: true });
    return true;
  };
  await waitFor('the server answers again', repeat, { timeoutMs: 60_000 });
}
