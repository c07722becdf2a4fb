import { jobLimits } from '@holdfast/domain';
import type { OptionCheck } from './check-options.ts';
import type { Unique } from './job-options.ts';

/** A unique key with every default filled in; durations in milliseconds. */
export interface UniqueFields {
  readonly key: string;
  readonly scope: 'type' | 'queue' | 'project';
  readonly until: 'start' | 'done' | 'ttl';
  readonly ttlMs: number | undefined;
  readonly onConflict: 'keep' | 'replace' | 'debounce' | 'queue_latest' | 'reject';
  readonly waitMs: number | undefined;
  readonly maxWaitMs: number | undefined;
}

const names = ['key', 'scope', 'until', 'ttl', 'onConflict', 'wait', 'maxWait'] as const;

/** Reads a unique key; `undefined` stays. */
export function readUnique(
  check: OptionCheck,
  unique: Unique | undefined,
): UniqueFields | undefined {
  if (unique === undefined) return undefined;
  check.names(unique, names);
  const { scope = 'type', until = 'done', onConflict = 'keep' } = unique;
  check.oneOf('unique.scope', scope, ['type', 'queue', 'project']);
  check.oneOf('unique.until', until, ['start', 'done', 'ttl']);
  check.oneOf('unique.onConflict', onConflict, [
    'keep',
    'replace',
    'debounce',
    'queue_latest',
    'reject',
  ]);
  checkKey(check, unique.key);
  checkPairs(check, unique);
  return {
    key: unique.key,
    scope,
    until,
    ttlMs: check.duration('unique.ttl', unique.ttl, { minMs: 1 }),
    onConflict,
    waitMs: check.duration('unique.wait', unique.wait, { minMs: 1 }),
    maxWaitMs: check.duration('unique.maxWait', unique.maxWait, { minMs: 1 }),
  };
}

function checkKey(check: OptionCheck, key: unknown): void {
  if (typeof key !== 'string') {
    check.refuse('unique.key must be a string');
    return;
  }
  const bytes = Buffer.byteLength(key);
  if (bytes < 1 || bytes > jobLimits.uniqueKeyBytes || /\0|\p{Surrogate}/u.test(key)) {
    check.refuse(
      `unique.key must be 1 to ${String(jobLimits.uniqueKeyBytes)} bytes of text; hash longer ones`,
    );
  }
}

/** Which settings belong together. */
function checkPairs(check: OptionCheck, { until, ttl, onConflict, wait, maxWait }: Unique): void {
  if ((until === 'ttl') !== (ttl !== undefined)) {
    check.refuse('unique.ttl goes with until: "ttl", and with nothing else');
  }
  const isDebounced = onConflict === 'debounce';
  if (isDebounced && wait === undefined) check.refuse('unique.wait must be set for debounce');
  if (!isDebounced && (wait !== undefined || maxWait !== undefined)) {
    check.refuse('unique.wait and unique.maxWait go with onConflict: "debounce" only');
  }
}
