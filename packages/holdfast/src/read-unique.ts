import { uniqueProblems } from '@holdfast/domain';
import type { UniqueSettings } from '@holdfast/domain';
import type { OptionCheck } from './check-options.ts';
import type { Unique } from './job-options.ts';

const names = ['key', 'scope', 'until', 'ttl', 'onConflict', 'wait', 'maxWait'] as const;

/** Reads a unique key; `undefined` stays. */
export function readUnique(
  check: OptionCheck,
  unique: Unique | undefined,
): UniqueSettings | undefined {
  if (unique === undefined) return undefined;
  if (!check.names(unique, names, 'unique')) return undefined;
  const { key, scope, until, onConflict, ttl, wait, maxWait } = unique;
  // Callers in plain JavaScript give numbers, too.
  if (typeof (key as unknown) !== 'string') {
    check.refuse('unique.key must be a string');
    return undefined;
  }
  const settings: UniqueSettings = {
    ...{ key, scope, until, onConflict },
    ttlMs: check.duration('unique.ttl', ttl),
    waitMs: check.duration('unique.wait', wait),
    maxWaitMs: check.duration('unique.maxWait', maxWait),
  };
  for (const { field, detail } of uniqueProblems(settings)) {
    check.refuse(`unique.${field} ${detail}`);
  }
  return settings;
}
