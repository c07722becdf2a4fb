import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '@holdfast/domain';
import type { JobHandler } from '@holdfast/worker';

/** Handlers by job type. */
export type Handlers = Readonly<Record<string, JobHandler>>;

/**
 * Loads the module that a user wrote. It exports `handlers`, or a default, that maps job types to functions.
 *
 * @param path relative to the working directory, or absolute
 * @throws ConfigError when the module cannot be loaded or exports something else
 */
export async function loadHandlers(path: string): Promise<Handlers> {
  const exported = await importModule(path);
  const found = exported['handlers'] ?? exported['default'];
  if (typeof found !== 'object' || found === null) {
    throw invalid(`${path} must export "handlers": an object of functions by job type`);
  }
  const entries = Object.entries(found);
  for (const [type, handler] of entries) {
    if (typeof handler !== 'function') throw invalid(`the handler of "${type}" is not a function`);
  }
  return Object.fromEntries(entries);
}

async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const module: unknown = await import(pathToFileURL(resolve(path)).href);
    return { ...(module as object) };
  } catch (error) {
    throw invalid(
      `${path} cannot be loaded: ${error instanceof Error ? error.message : 'failed'}`,
      {
        cause: error,
      },
    );
  }
}

function invalid(message: string, options: { readonly cause?: unknown } = {}): ConfigError {
  return new ConfigError(`The configuration is invalid:\n  HOLDFAST_HANDLERS: ${message}`, options);
}
