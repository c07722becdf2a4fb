import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Imports a compiled module by its path from the root of the repository. */
export function importBuilt(root, path) {
  return import(pathToFileURL(join(root, path)).href);
}
