import { isAbsolute } from 'node:path';
import { types } from 'node:util';
import { OptionsInvalidError } from '@holdfast/domain';
import { OptionCheck } from './check-options.ts';
import { checkVersions } from './check-versions.ts';
import type { JobDefaults, JobDefinition } from './job-definition.ts';
import { readJobFields } from './job-fields.ts';
import type { JobFields } from './job-fields.ts';
import type { JobOptions } from './job-options.ts';
import { callWith, shown } from './shown.ts';

const names = [
  'type',
  'payload',
  'version',
  'upgrades',
  'run',
  'queue',
  'maxAttempts',
  'backoff',
  'retry',
  'retryUntil',
  'maxExceptions',
  'timeout',
  'priority',
  'tags',
  'onCrash',
  'isolate',
  'module',
] as const;

/** What callers in plain JavaScript may hand in. */
interface Unchecked extends JobDefaults {
  readonly type: unknown;
  readonly payload?: unknown;
  readonly version?: unknown;
  readonly upgrades?: unknown;
  readonly run?: unknown;
}

/**
 * Checks what was given to `defineJob` and answers the part that is about every job of the type.
 *
 * @throws OptionsInvalidError that lists every problem
 */
export function readJobDefaults(options: Unchecked): JobDefaults {
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null) {
    throw new OptionsInvalidError('defineJob', ['the options must be an object']);
  }
  const { type, payload, version, upgrades, run, ...defaults } = options;
  const check = new OptionCheck(callWith('defineJob', type));
  check.names(options, names);
  check.name('type', type);
  if (payload !== undefined && !isSchema(payload)) {
    check.refuse('payload must be a schema of a Standard Schema library');
  }
  checkVersions(check, version, upgrades);
  if (run !== undefined && typeof run !== 'function') check.refuse('run must be a function');
  check.oneOf('onCrash', defaults.onCrash, ['retry', 'dead_letter']);
  check.oneOf('isolate', defaults.isolate, ['thread']);
  if (defaults.isolate === 'thread') checkModule(check, defaults.module);
  readJobFields(check, optionsOfDefaults(defaults));
  check.done();
  return Object.freeze({ ...defaults });
}

function checkModule(check: OptionCheck, module: unknown): void {
  if (module === undefined) check.refuse('isolate: "thread" needs module: import.meta.url');
  else if (!isModule(module)) {
    check.refuse(
      `module must be a URL, such as import.meta.url, or an absolute path, not ${shown(module)}`,
    );
  }
}

/** What a thread can import wherever it runs. */
function isModule(module: unknown): boolean {
  if (types.isProxy(module)) return false;
  if (typeof module !== 'string') return module instanceof URL;
  return isAbsolute(module) || (module.startsWith('file:') && URL.canParse(module));
}

const known = new WeakMap<JobDefinition, JobFields>();

/** What a definition says of its jobs, as it is stored. */
export function fieldsOfDefinition(job: JobDefinition): JobFields {
  let fields = known.get(job);
  if (fields === undefined) {
    fields = readJobFields(new OptionCheck(`defineJob("${job.type}")`), {
      ...optionsOfDefaults(job.defaults),
      payloadVersion: job.version,
    });
    known.set(job, fields);
  }
  return fields;
}

/** The defaults as options of a job; a function as backoff stays with the worker. */
export function optionsOfDefaults(defaults: JobDefaults): JobOptions {
  const { queue, maxAttempts, backoff, retry, retryUntil, maxExceptions } = defaults;
  const { timeout, priority, tags } = defaults;
  const stored = typeof backoff === 'function' ? undefined : backoff;
  return {
    ...{ queue, maxAttempts, backoff: stored, retry, retryUntil, maxExceptions },
    ...{ timeout, priority, tags },
  };
}

function isSchema(value: unknown): boolean {
  // ArkType's schemas are functions.
  const isObject = (typeof value === 'object' || typeof value === 'function') && value !== null;
  return isObject && '~standard' in value;
}
