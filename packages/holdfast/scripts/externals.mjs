import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Notes that a file imports a library, in the version of the package that the file belongs to; for declarations of a
 * library without types of its own, the types. Optional peers are brought by the user.
 *
 * Throws when the package does not list the library, or two packages want different versions.
 */
export function addExternal(externals, { name, file }) {
  const { manifest } = file.owner;
  if (manifest.peerDependencies?.[name] !== undefined) return;
  const needed = file.path.endsWith('.d.ts') ? typesOf(name, file) : name;
  const version = manifest.dependencies?.[needed] ?? manifest.devDependencies?.[needed];
  if (version === undefined) throw new Error(`${manifest.name} imports ${needed}, unlisted`);
  if (externals[needed] !== undefined && externals[needed] !== version) {
    throw new Error(`Two versions of ${needed}: ${externals[needed]} and ${version}`);
  }
  externals[needed] = version;
}

function typesOf(name, file) {
  const { types, typings, exports: entries } = readManifest(name, file.path);
  const hasTypes = types ?? typings ?? JSON.stringify(entries ?? '').includes('.d.');
  return hasTypes ? name : `@types/${name.replace('@', '').replace('/', '__')}`;
}

/** Found by its folder, since few libraries export their package.json. */
function readManifest(name, from) {
  const folders = createRequire(from).resolve.paths(name);
  const folder = folders.find((parent) => existsSync(join(parent, name, 'package.json')));
  if (folder === undefined) throw new Error(`${name} is not installed for ${dirname(from)}`);
  return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
}
