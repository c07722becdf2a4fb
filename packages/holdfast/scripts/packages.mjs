import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The packages of the workspace by name: their folder, their folder's name, and their package.json. */
export function readPackages(parent) {
  const packages = readdirSync(parent).map((folderName) => {
    const folder = join(parent, folderName);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return [manifest.name, { folderName, folder, manifest }];
  });
  return new Map(packages);
}

/** Splits `@scope/name/sub/path` and `name/sub/path` into the package's name and `.` or `./sub/path`. */
export function splitSpecifier(specifier) {
  const parts = specifier.split('/');
  const nameLength = specifier.startsWith('@') ? 2 : 1;
  const subpath = parts.slice(nameLength).join('/');
  return {
    name: parts.slice(0, nameLength).join('/'),
    subpath: subpath === '' ? '.' : `./${subpath}`,
  };
}
