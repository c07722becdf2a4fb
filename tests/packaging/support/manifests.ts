import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What is read of a package.json. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The package.json of a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** For each library the versions that the packages below a folder want. */
export function versionsInWorkspace(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const versions = new Map<string, Set<string>>();
  for (const name of readdirSync(folder)) {
    const { dependencies, devDependencies } = readManifest(join(folder, name));
    for (const [library, version] of Object.entries({ ...devDependencies, ...dependencies })) {
      versions.set(library, (versions.get(library) ?? new Set()).add(version));
    }
  }
  return versions;
}

/** The paths of all files below a folder, but not those of packages installed in it. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('node_modules'));
}
