import type { ClaimedJob } from '@holdfast/database';
import { holdJob } from '../../src/held-job.ts';
import type { HeldJob } from '../../src/held-job.ts';

/** A held job with the given differences from an ordinary first claim. */
export function makeHeldJob(claimed: Partial<ClaimedJob> = {}): HeldJob {
  return holdJob(
    {
      id: '01900000-0000-7000-8000-000000000001',
      queueId: '1',
      type: 'test',
      payloadJson: '{}',
      payloadVersion: 1,
      priority: 5,
      seq: '1',
      attempt: 1,
      maxAttempts: 5,
      executionSeq: 1,
      crashCount: 0,
      releaseCount: 0,
      timeoutMs: 60_000,
      retryJson: null,
      metadataJson: null,
      tags: [],
      waitMs: 0,
      createdAtMs: 0,
      ageMs: 0,
      exceptionCount: 0,
      batchId: undefined,
      isAwaited: false,
      leaseToken: '00000000-0000-4000-8000-000000000001',
      ...claimed,
    },
    'default',
    0,
  );
}
