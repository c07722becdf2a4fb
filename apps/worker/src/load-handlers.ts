import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, isPayloadVersion } from '@holdfast/domain';
import type { JobHandler, PayloadVersions, ThreadHandler } from '@holdfast/worker';

/** What a module exports, by job type. */
export interface Handlers {
  readonly handlers: Readonly<Record<string, JobHandler | ThreadHandler>>;
  /** Of the types that say so. */
  readonly payloadVersions: PayloadVersions;
}

/**
 * Loads the module that a user wrote. It exports `handlers`, or a default, that maps job types to functions, or to
 * `{ handler, isolate?, payloadVersions? }`: with `isolate: 'thread'` the function runs in threads, which import the module
 * once more; `payloadVersions` are those that it takes, if not version 1 alone.
 *
 * @param path relative to the working directory, or absolute
 * @throws ConfigError when the module cannot be loaded or exports something else
 */
export async function loadHandlers(path: string): Promise<Handlers> {
  const url = pathToFileURL(resolve(path)).href;
  const exported = await importModule(url, path);
  const found = exported['handlers'] ?? exported['default'];
  if (typeof found !== 'object' || found === null) {
    throw invalid(`${path} must export "handlers": an object of functions by job type`);
  }
  const entries = Object.entries(found);
  return {
    handlers: Object.fromEntries(entries.map(([type, entry]) => [type, toEntry(type, entry, url)])),
    payloadVersions: Object.fromEntries(
      entries.flatMap(([type, entry]) => {
        const versions = versionsOf(type, entry);
        return versions === undefined ? [] : [[type, versions] as const];
      }),
    ),
  };
}

function versionsOf(type: string, entry: unknown): readonly number[] | undefined {
  if (typeof entry !== 'object' || entry === null || !('payloadVersions' in entry))
    return undefined;
  const { payloadVersions: versions } = entry;
  const areVersions =
    Array.isArray(versions) && versions.length > 0 && versions.every(isPayloadVersion);
  if (areVersions) return [...new Set<number>(versions)];
  throw invalid(`payloadVersions of "${type}" must be an array of whole numbers from 1 to 32767`);
}

function toEntry(type: string, entry: unknown, module: string): JobHandler | ThreadHandler {
  if (isFunction(entry)) return entry;
  if (isDefinition(entry)) {
    // Its schema, its defaults and its context are the package's own; here its handler would run without them.
    throw invalid(
      `"${type}" is a definition made by defineJob, which createWorker of the package "holdfast" runs; ` +
        'export a function of payload and context here',
    );
  }
  if (!isLongEntry(entry)) throw invalid(`the handler of "${type}" is not a function`);
  const { isolate, handler, resourceLimits, payloadVersions, ...unknown } = entry;
  const [odd] = Object.keys(unknown);
  if (odd !== undefined) throw invalid(`the entry of "${type}" has an unknown field "${odd}"`);
  if (isolate === undefined && payloadVersions !== undefined && isFunction(handler)) return handler;
  if (isolate !== 'thread') throw invalid(`the entry of "${type}" must have isolate: "thread"`);
  if (!isFunction(handler)) throw invalid(`the handler of "${type}" is not a function`);
  return { isolate, module, resourceLimits };
}

/** What a user may have written; each field is checked. */
interface LongEntry {
  readonly isolate?: unknown;
  readonly handler?: unknown;
  readonly payloadVersions?: unknown;
  readonly resourceLimits?: ThreadHandler['resourceLimits'];
}

function isLongEntry(entry: unknown): entry is LongEntry {
  if (typeof entry !== 'object' || entry === null) return false;
  return 'isolate' in entry || 'payloadVersions' in entry;
}

function isDefinition(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'type' in entry && 'defaults' in entry;
}

function isFunction(value: unknown): value is JobHandler {
  return typeof value === 'function';
}

async function importModule(url: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const module: unknown = await import(url);
    return { ...(module as object) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'failed';
    throw invalid(`${path} cannot be loaded: ${reason}`, { cause: error });
  }
}

function invalid(message: string, options: { readonly cause?: unknown } = {}): ConfigError {
  return new ConfigError(`The configuration is invalid:\n  HOLDFAST_HANDLERS: ${message}`, options);
}
