import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { addExternal } from './externals.mjs';
import { readLiterals } from './module-literals.mjs';
import { splitSpecifier } from './packages.mjs';

/**
 * Follows the imports from everything that the package exports, through the internal packages, in code and in types.
 *
 * Gives the text of each file that is reached with the place that it gets, internal packages under `internal/<name>`,
 * and the version of each library that the files import.
 */
export function collectModules(own, packages) {
  const walk = { own, packages, modules: new Map(), externals: {} };
  const pending = entriesOf(own);
  while (pending.length > 0) {
    const file = pending.pop();
    if (walk.modules.has(file.path)) continue;
    const { text, reached } = readModule(file, walk);
    walk.modules.set(file.path, { output: outputOf(file, walk), text });
    pending.push(...reached);
  }
  const externals = Object.fromEntries(Object.entries(walk.externals).sort());
  return { modules: [...walk.modules.values()], externals };
}

function entriesOf(own) {
  const { exports: entries, publishConfig } = own.manifest;
  const paths = Object.values(entries).flatMap(({ types, default: file }) => [types, file]);
  return [...paths, ...Object.values(publishConfig.bin)].map((path) => ({
    path: join(own.folder, path),
    owner: own,
  }));
}

function outputOf({ path, owner }, { own }) {
  if (owner === own) return relative(join(owner.folder, 'dist'), path);
  // With its `dist`, so that files beside that folder are where the code looks for them.
  return join('internal', owner.folderName, relative(owner.folder, path));
}

function readModule(file, walk) {
  let text = withoutMapLine(readFileSync(file.path, 'utf8'));
  const reached = [];
  // From the end, so that the places of the literals before stay what they are.
  for (const literal of readLiterals(file.path, text).reverse()) {
    const target = targetOf(literal, file, walk);
    if (target === undefined) continue;
    reached.push(target, ...typesBeside(target));
    if (literal.isImport) {
      const specifier = specifierTo(target, { from: file, walk });
      text = text.slice(0, literal.start) + specifier + text.slice(literal.end);
    }
  }
  return { text, reached };
}

const withoutMapLine = (text) => text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');

/** The file of ours that a text literal means, if it means one. */
function targetOf(literal, file, walk) {
  const { value, isImport } = literal;
  if (value.startsWith('.')) {
    const path = asBuilt(join(dirname(file.path), value), file);
    // Files are also named outside of imports: the script of a thread.
    if (!existsSync(path) || extname(path) === '') return undefined;
    return { path: requireOwned(path, file), owner: file.owner };
  }
  if (!isImport || value.startsWith('node:') || builtinModules.includes(value)) return undefined;
  const { name, subpath } = splitSpecifier(value);
  const owner = walk.packages.get(name);
  if (owner === undefined) {
    addExternal(walk.externals, { name, file });
    return undefined;
  }
  const { types, default: code } = owner.manifest.exports[subpath];
  return { path: join(owner.folder, isDeclaration(file.path) ? types : code), owner };
}

const isDeclaration = (path) => path.endsWith('.d.ts');

function requireOwned(path, { owner, path: from }) {
  if (!relative(owner.folder, path).startsWith('..')) return path;
  throw new Error(`${from} names ${path}, which is not published`);
}

/** Declarations import the source or the code; what is meant is the declaration of either. */
function asBuilt(path, file) {
  return isDeclaration(file.path) ? path.replace(/(\.d)?\.(ts|js)$/, '.d.ts') : path;
}

/** Somebody who imports code by its path finds its types. */
function typesBeside({ path, owner }) {
  const types = path.replace(/\.js$/, '.d.ts');
  return types !== path && existsSync(types) ? [{ path: types, owner }] : [];
}

function specifierTo(target, { from, walk }) {
  const path = relative(dirname(outputOf(from, walk)), outputOf(target, walk));
  const specifier = path.replaceAll('\\', '/').replace(/\.d\.ts$/, '.js');
  return specifier.startsWith('.') ? specifier : `./${specifier}`;
}
