import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '@holdfast/domain';
import type { JobHandler, ThreadHandler } from '@holdfast/worker';

/** Handlers by job type. */
export type Handlers = Readonly<Record<string, JobHandler | ThreadHandler>>;

/**
 * Loads the module that a user wrote. It exports `handlers`, or a default, that maps job types to functions, or to
 * `{ isolate: 'thread', handler }` for functions that run in threads, which import the module once more.
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
  const entries = Object.entries(found).map(
    ([type, entry]) => [type, toEntry(type, entry, url)] as const,
  );
  return Object.fromEntries(entries);
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
  if (typeof entry !== 'object' || entry === null || !('isolate' in entry)) {
    throw invalid(`the handler of "${type}" is not a function`);
  }
  const { isolate, handler, resourceLimits, ...unknown } = entry as IsolatedEntry;
  const [odd] = Object.keys(unknown);
  if (odd !== undefined) throw invalid(`the entry of "${type}" has an unknown field "${odd}"`);
  if (isolate !== 'thread') throw invalid(`the entry of "${type}" must have isolate: "thread"`);
  if (!isFunction(handler)) throw invalid(`the handler of "${type}" is not a function`);
  return { isolate, module, resourceLimits };
}

/** What a user may have written; each field is checked. */
interface IsolatedEntry {
  readonly isolate: unknown;
  readonly handler?: unknown;
  readonly resourceLimits?: ThreadHandler['resourceLimits'];
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
