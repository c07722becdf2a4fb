import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { HoldfastError } from '@holdfast/domain';
import { readProperty } from '../attempt-error.ts';

/**
 * Imports a module in this thread and gives its exports.
 *
 * @throws HoldfastError `typescript_unreadable`; and whatever the module throws
 */
export async function importModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  const { pathname } = new URL(url);
  if (/\.[cm]?tsx?$/.test(pathname)) await letNodeRead(url, pathname);
  try {
    const module: unknown = await import(url);
    return { ...(module as object) };
  } catch (error) {
    throw isAboutTypeScript(error) ? unreadable(error) : error;
  }
}

/** The user's, if they have it: not a dependency of ours. */
const loader = 'tsx/esm/api';
const readsTypes = Boolean(Reflect.get(process.features, 'typescript'));
let isReady = false;

/** The loader tsx, with which a process may have been started, does nothing in threads by itself. */
async function letNodeRead(url: string, pathname: string): Promise<void> {
  // What Node reads by itself has no JSX.
  if (isReady || (readsTypes && !pathname.endsWith('x'))) return;
  try {
    const tsx: unknown = await importLoader(url);
    // The package's documented interface.
    (tsx as { readonly register: () => unknown }).register();
    isReady = true;
  } catch {
    // Without tsx, Node itself says that it cannot read the module.
  }
}

/** The application's own where package managers keep the packages of others apart. */
async function importLoader(url: string): Promise<unknown> {
  try {
    return await import(loader);
  } catch {
    return await import(pathToFileURL(createRequire(url).resolve(loader)).href);
  }
}

function isAboutTypeScript(error: unknown): boolean {
  if (readProperty(error, 'code') !== 'ERR_UNKNOWN_FILE_EXTENSION') return false;
  return /"\.[cm]?tsx?"/.test(String(readProperty(error, 'message')));
}

function unreadable(error: unknown): HoldfastError {
  const said = String(readProperty(error, 'message'));
  return new HoldfastError(
    `Nothing in the handler’s thread can read TypeScript (${said}). Install tsx in the application, or name the compiled JavaScript as the module, or run Node.js 22.18 or newer`,
    { code: 'typescript_unreadable', cause: error },
  );
}
