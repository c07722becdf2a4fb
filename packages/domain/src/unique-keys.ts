import { formatDuration, maxDurationMs } from './duration.ts';
import { isStorableText } from './is-storable-text.ts';
import { jobLimits } from './job-limits.ts';

/** Within what a key is unique: jobs of one type, of one queue, or of the whole project. */
export const uniqueScopes = ['type', 'queue', 'project'] as const;

/** How long a key is held: until the first claim, until the job ended or became a dead letter, or for a fixed time. */
export const uniqueUntils = ['start', 'done', 'ttl'] as const;

/** What becomes of a job whose key is held. */
export const uniqueConflictModes = [
  'keep',
  'replace',
  'debounce',
  'queue_latest',
  'reject',
] as const;

/** Within what a key is unique. */
export type UniqueScope = (typeof uniqueScopes)[number];

/** How long a key is held. */
export type UniqueUntil = (typeof uniqueUntils)[number];

/** What becomes of a job whose key is held. */
export type UniqueConflictMode = (typeof uniqueConflictModes)[number];

/**
 * What happened because a key was held: the holder was left as it is, has the new payload, waits anew besides, or the new
 * job waits for its end.
 */
export const uniqueConflicts = ['kept', 'replaced', 'debounced', 'queued_behind'] as const;

/** What happened because a key was held. */
export type UniqueConflict = (typeof uniqueConflicts)[number];

/** A unique key as a caller asks for it. */
export interface UniqueSettings {
  /** 1 to 512 bytes of UTF-8, without NUL. */
  readonly key: string;
  /** Default `type`. */
  readonly scope?: UniqueScope | undefined;
  /** Default `done`; `start` for `debounce`. */
  readonly until?: UniqueUntil | undefined;
  /** For `until: 'ttl'` only: from the enqueue on. */
  readonly ttlMs?: number | undefined;
  /** Default `keep`. */
  readonly onConflict?: UniqueConflictMode | undefined;
  /** For `debounce` only: how long the job waits after the newest call. */
  readonly waitMs?: number | undefined;
  /** For `debounce` only: how long it waits at most after the first call. */
  readonly maxWaitMs?: number | undefined;
}

/** The same with the defaults filled in. */
export interface CompleteUniqueSettings extends UniqueSettings {
  readonly scope: UniqueScope;
  readonly until: UniqueUntil;
  readonly onConflict: UniqueConflictMode;
}

/** One thing that is wrong with the settings of a unique key. */
export interface UniqueProblem {
  /** The setting, by its name without the unit. */
  readonly field: 'key' | 'scope' | 'until' | 'ttl' | 'onConflict' | 'wait' | 'maxWait';
  /** The rest of a sentence that begins with the field. */
  readonly detail: string;
}

/** Fills in the defaults. */
export function completeUnique(settings: UniqueSettings): CompleteUniqueSettings {
  const { scope = 'type', onConflict = 'keep' } = settings;
  const until = settings.until ?? (onConflict === 'debounce' ? 'start' : 'done');
  return { ...settings, scope, onConflict, until };
}

/** Everything that is wrong with the settings; nothing for good ones. */
export function uniqueProblems(settings: UniqueSettings): readonly UniqueProblem[] {
  const problems: UniqueProblem[] = [];
  const refuse = (field: UniqueProblem['field'], detail: string): void => {
    problems.push({ field, detail });
  };
  const complete = completeUnique(settings);
  if (!isUniqueKey(settings.key)) {
    refuse(
      'key',
      `must be 1 to ${String(jobLimits.uniqueKeyBytes)} bytes of text without NUL; hash longer ones`,
    );
  }
  const { scope, until, onConflict } = complete;
  if (!uniqueScopes.includes(scope)) refuse('scope', oneOf(uniqueScopes));
  if (!uniqueUntils.includes(until)) refuse('until', oneOf(uniqueUntils));
  if (!uniqueConflictModes.includes(onConflict)) refuse('onConflict', oneOf(uniqueConflictModes));
  refuseTimes(complete, refuse);
  return problems;
}

type Refuse = (field: UniqueProblem['field'], detail: string) => void;

function refuseTimes(settings: CompleteUniqueSettings, refuse: Refuse): void {
  const { until, ttlMs, onConflict, waitMs, maxWaitMs } = settings;
  if (until === 'ttl') refuseDuration('ttl', ttlMs, refuse);
  else if (ttlMs !== undefined) refuse('ttl', 'goes with until "ttl" only');
  if (onConflict === 'queue_latest' && until !== 'done') {
    refuse('until', 'must be "done" for queue_latest: the next job waits for that');
  }
  if (onConflict !== 'debounce') {
    if (waitMs !== undefined) refuse('wait', 'goes with onConflict "debounce" only');
    if (maxWaitMs !== undefined) refuse('maxWait', 'goes with onConflict "debounce" only');
    return;
  }
  if (until !== 'start') refuse('until', 'must be "start" for debounce: a job waits until then');
  refuseDuration('wait', waitMs, refuse);
  if (maxWaitMs === undefined) return;
  refuseDuration('maxWait', maxWaitMs, refuse);
  if (maxWaitMs < (waitMs ?? 0)) refuse('maxWait', 'must not be less than wait');
}

function refuseDuration(
  field: 'ttl' | 'wait' | 'maxWait',
  ms: number | undefined,
  refuse: Refuse,
): void {
  if (ms === undefined) refuse(field, 'must be set');
  else if (!(ms >= 1 && ms <= maxDurationMs)) {
    refuse(field, `must be between 1 ms and ${formatDuration(maxDurationMs)}`);
  }
}

function oneOf(words: readonly string[]): string {
  return `must be one of ${words.map((word) => `"${word}"`).join(', ')}`;
}

/** Whether the text can be a unique key. */
export function isUniqueKey(key: string): boolean {
  const byteCount = new TextEncoder().encode(key).length;
  return byteCount >= 1 && byteCount <= jobLimits.uniqueKeyBytes && isStorableText(key);
}
