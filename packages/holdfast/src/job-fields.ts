import {
  PayloadInvalidError,
  PayloadTooLargeError,
  isName,
  isTag,
  isUuid,
  jobLimits,
  maxDurationMs,
  payloadJson,
} from '@holdfast/domain';
import type { UniqueSettings } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { keysOf } from './check-options.ts';
import type { OptionCheck } from './check-options.ts';
import type { JobOptions } from './job-options.ts';
import { readRetry } from './read-retry.ts';
import type { PartialRetry } from './read-retry.ts';
import { readUnique } from './read-unique.ts';

/** The options of a job as they are stored; what was not said is undefined. */
export interface JobFields {
  readonly id: string | undefined;
  readonly queue: string | undefined;
  readonly priority: number | undefined;
  readonly maxAttempts: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly retry: PartialRetry;
  readonly tags: readonly string[] | undefined;
  readonly metadataJson: string | undefined;
  readonly runAt: Date | undefined;
  readonly delayMs: number | undefined;
  readonly startDeadlineAt: Date | undefined;
  readonly startDeadlineMs: number | undefined;
  readonly unique: UniqueSettings | undefined;
  readonly payloadVersion: number | undefined;
}

/** Every option of a job. */
export const jobOptionNames = [
  'id',
  'queue',
  'delay',
  'runAt',
  'priority',
  'tags',
  'metadata',
  'maxAttempts',
  'timeout',
  'backoff',
  'retry',
  'retryUntil',
  'maxExceptions',
  'unique',
  'startDeadline',
  'payloadVersion',
] as const satisfies readonly (keyof JobOptions)[];

const nothingSaid: JobFields = Object.freeze({
  id: undefined,
  queue: undefined,
  priority: undefined,
  maxAttempts: undefined,
  timeoutMs: undefined,
  retry: Object.freeze({}),
  tags: undefined,
  metadataJson: undefined,
  runAt: undefined,
  delayMs: undefined,
  startDeadlineAt: undefined,
  startDeadlineMs: undefined,
  unique: undefined,
  payloadVersion: undefined,
});

/** Reads the options of a job and notes what is wrong with them; their names are the caller's to check. */
export function readJobFields(check: OptionCheck, options: JobOptions): JobFields {
  // Callers in plain JavaScript give null; it is refused by its name already.
  if (typeof options !== 'object' || (options as unknown) === null) return nothingSaid;
  // Most calls say nothing beside the payload.
  if (Object.keys(options).length === 0) return nothingSaid;
  if (options.delay !== undefined && options.runAt !== undefined) {
    check.refuse('delay and runAt cannot both be set');
  }
  const isReadable = keysOf(options.unique) !== undefined;
  if (
    isReadable &&
    options.unique?.onConflict === 'debounce' &&
    (options.delay ?? options.runAt) !== undefined
  ) {
    check.refuse('delay and runAt cannot be set with debounce: unique.wait is the delay');
  }
  if (typeof options.backoff === 'function') {
    check.refuse('a function as backoff belongs to the definition');
  }
  return {
    id: readId(check, options.id),
    queue: readQueue(check, options.queue),
    priority: check.whole('priority', options.priority, { min: 0, max: jobLimits.lastPriority }),
    maxAttempts: check.whole('maxAttempts', options.maxAttempts, {
      min: 1,
      max: jobLimits.maxAttempts,
    }),
    timeoutMs: check.duration('timeout', options.timeout, { minMs: 1, maxMs: jobLimits.timeoutMs }),
    retry: readRetry(check, options),
    tags: readTags(check, options.tags),
    metadataJson: readMetadata(check, options.metadata),
    runAt: readRunAt(check, options.runAt),
    delayMs: check.duration('delay', options.delay),
    ...readStartDeadline(check, options.startDeadline),
    unique: readUnique(check, options.unique),
    payloadVersion: check.whole('payloadVersion', options.payloadVersion, {
      min: 1,
      max: jobLimits.payloadVersion,
    }),
  };
}

/** The fields of a job, where those of the later win over those of the earlier. */
export function mergeFields(earlier: JobFields, later: JobFields): JobFields {
  if (later === nothingSaid) return earlier;
  const said = Object.entries(later).filter(([, value]) => value !== undefined);
  return { ...earlier, ...Object.fromEntries(said), retry: { ...earlier.retry, ...later.retry } };
}

/** A payload is checked with its definition, so it has that one's version. */
export function refuseOwnVersion(
  check: OptionCheck,
  options: Pick<JobOptions, 'payloadVersion'>,
  job: unknown,
): void {
  if (typeof job !== 'object' || keysOf(options) === undefined) return;
  if (options.payloadVersion === undefined) return;
  check.refuse(
    'payloadVersion is for jobs that are named by their type: a definition says its own',
  );
}

/** Reads the name of a queue; `undefined` stays. */
export function readQueue(check: OptionCheck, queue: string | undefined): string | undefined {
  if (queue === undefined || (typeof queue === 'string' && isName(queue))) return queue;
  check.refuse('queue must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -');
  return undefined;
}

/** Reads tags; `undefined` stays. */
export function readTags(
  check: OptionCheck,
  tags: readonly string[] | undefined,
): readonly string[] | undefined {
  if (tags === undefined) return undefined;
  const areTags =
    Array.isArray(tags) &&
    tags.length <= jobLimits.tagCount &&
    tags.every((tag: unknown) => typeof tag === 'string' && isTag(tag)) &&
    new Set(tags).size === tags.length;
  if (areTags) return tags as readonly string[];
  check.refuse(
    `tags must be at most ${String(jobLimits.tagCount)} different words of 1 to 64 characters`,
  );
  return undefined;
}

function readId(check: OptionCheck, id: string | undefined): string | undefined {
  if (id === undefined || (typeof id === 'string' && isUuid(id))) return id;
  check.refuse('id must be a UUID in lower case');
  return undefined;
}

function readMetadata(check: OptionCheck, metadata: JobOptions['metadata']): string | undefined {
  if (metadata === undefined) return undefined;
  try {
    const options = { type: 'metadata', limitBytes: jobLimits.metadataBytes };
    const { json } = payloadJson(metadata, options);
    // Looked at in the end, since it may convert itself by a toJSON.
    if (!json.startsWith('{')) check.refuse('metadata must be an object');
    return json === '{}' ? undefined : json;
  } catch (error) {
    if (error instanceof PayloadTooLargeError)
      check.refuse('metadata must be at most 8 kB of JSON');
    else if (error instanceof PayloadInvalidError) {
      for (const { pointer, message } of error.issues)
        check.refuse(`metadata${pointer} ${message}`);
    } else throw error;
    return undefined;
  }
}

function readRunAt(check: OptionCheck, value: Date | undefined): Date | undefined {
  const runAt = check.instant('runAt', value);
  if (runAt === undefined) return undefined;
  const inMs = runAt.getTime() - systemClock.nowMs();
  if (inMs > maxDurationMs) check.refuse('runAt must be within the next ten years');
  // The past means now: such a job goes straight into the line.
  return inMs > 0 ? runAt : undefined;
}

function readStartDeadline(
  check: OptionCheck,
  value: JobOptions['startDeadline'],
): Pick<JobFields, 'startDeadlineAt' | 'startDeadlineMs'> {
  const deadline = check.deadline('startDeadline', value);
  return { startDeadlineAt: deadline?.at, startDeadlineMs: deadline?.ms };
}
