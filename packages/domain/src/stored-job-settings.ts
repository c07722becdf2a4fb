import { maxDurationMs } from './duration.ts';
import { isNumberBetween, isWholeBetween } from './is-number-between.ts';
import { isRecord } from './is-record.ts';
import { isTag, jobLimits } from './job-limits.ts';
import type { RetryPolicy } from './job-outcome.ts';
import { isPayloadVersion } from './payload-versions.ts';
import { readStoredRetry } from './stored-retry.ts';

/** What is stored for jobs that are made later. What is missing comes from the queue, then from the default. */
export interface StoredJobSettings {
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly delayMs?: number;
  readonly payloadVersion?: number;
}

/** What the table of jobs accepts; written in SQL, it may be more than a program may ask for. */
const mostAttempts = 1_000;

/**
 * Reads the settings of jobs that are made later: of a queue, a schedule, a callback or a subscription. Somebody may have
 * written them in SQL, so what no job could have counts as not said.
 */
export function readStoredJobSettings(stored: unknown): StoredJobSettings {
  if (!isRecord(stored)) return {};
  const { priority, maxAttempts, timeoutMs, retry, tags, metadata, delayMs } = stored;
  const { payloadVersion } = stored;
  return {
    ...(isWholeBetween(priority, 0, jobLimits.lastPriority) ? { priority } : {}),
    ...(isWholeBetween(maxAttempts, 1, mostAttempts) ? { maxAttempts } : {}),
    ...(isWholeBetween(timeoutMs, 1, jobLimits.timeoutMs) ? { timeoutMs } : {}),
    ...(retry === undefined || retry === null ? {} : { retry: readStoredRetry(retry) }),
    ...(areTags(tags) ? { tags } : {}),
    ...(isRecord(metadata) ? { metadata } : {}),
    ...(isNumberBetween(delayMs, 0, maxDurationMs) ? { delayMs } : {}),
    ...(isPayloadVersion(payloadVersion) ? { payloadVersion } : {}),
  };
}

function areTags(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string' && isTag(tag));
}
