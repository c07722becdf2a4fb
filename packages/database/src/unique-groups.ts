import {
  OptionsInvalidError,
  UniqueKeyHeldError,
  completeUnique,
  uniqueProblems,
} from '@holdfast/domain';
import type { UniqueSettings } from '@holdfast/domain';
import type { NewJob } from './enqueue.ts';
import { uniqueDigest } from './unique-digest.ts';
import type { KeyRequest } from './unique-locks.ts';

/** A job to be inserted that may ask for a unique key. */
export interface UniqueJob extends Omit<NewJob, 'unique'> {
  readonly unique?: UniqueSettings | undefined;
}

/** Jobs of one call that ask for the same key. */
export interface KeyGroup extends Omit<KeyRequest, 'job'> {
  readonly key: string;
  readonly lead: UniqueJob;
  readonly followers: readonly UniqueJob[];
}

/**
 * Puts the jobs that ask for a key into groups of one key each, in the order of their first jobs.
 *
 * @throws OptionsInvalidError for settings that break a rule
 */
export function groupByKey(jobs: readonly UniqueJob[]): readonly KeyGroup[] {
  const problems = jobs.flatMap((job) => problemsOf(job));
  const groups = new Map<string, KeyGroup>();
  for (const job of problems.length === 0 ? jobs : []) {
    if (job.unique === undefined) continue;
    const settings = completeUnique(job.unique);
    const { key } = settings;
    const digest = uniqueDigest({ ...settings, type: job.type, queue: job.queue });
    const group = groups.get(digest);
    if (group === undefined) {
      groups.set(digest, { key, digest, settings, lead: job, followers: [] });
      continue;
    }
    problems.push(...differences(group, job));
    groups.set(digest, { ...group, followers: [...group.followers, job] });
  }
  if (problems.length > 0) throw new OptionsInvalidError('enqueue', [...new Set(problems)]);
  return [...groups.values()];
}

function problemsOf({ unique, delayMs, runAt }: UniqueJob): readonly string[] {
  if (unique === undefined) return [];
  const problems = uniqueProblems(unique).map(({ field, detail }) => `unique.${field} ${detail}`);
  if (unique.onConflict === 'debounce' && (delayMs !== undefined || runAt !== undefined)) {
    problems.push('delay and runAt cannot be set with debounce: unique.wait is the delay');
  }
  return problems;
}

function differences({ settings, lead }: KeyGroup, job: UniqueJob): readonly string[] {
  const own = job.unique === undefined ? settings : completeUnique(job.unique);
  const names = ['until', 'ttlMs', 'onConflict', 'waitMs', 'maxWaitMs'] as const;
  const isReplacing = own.onConflict !== 'keep' && own.onConflict !== 'reject';
  return names.every((name) => own[name] === settings[name]) &&
    (job.type === lead.type || !isReplacing)
    ? []
    : [`jobs that share the key "${own.key}" must not differ in type or in settings of the key`];
}

/**
 * What to ask for a group.
 *
 * @throws UniqueKeyHeldError when its jobs reject each other
 */
export function toRequest(group: KeyGroup): KeyRequest {
  const { digest, settings, key, lead, followers } = group;
  if (settings.onConflict === 'reject' && followers.length > 0) {
    throw new UniqueKeyHeldError(key, lead.id);
  }
  return { digest, settings, job: withNewestContent(group) };
}

/** The first job of a group with what the newest one replaces of it. */
export function withNewestContent({ lead, followers, settings }: KeyGroup): Omit<NewJob, 'unique'> {
  const newest = settings.onConflict === 'keep' ? undefined : followers.at(-1);
  const { payloadJson, payloadVersion, priority, tags, metadataJson } = newest ?? lead;
  const delayMs = settings.waitMs ?? lead.delayMs;
  return { ...lead, payloadJson, payloadVersion, priority, tags, metadataJson, delayMs };
}
