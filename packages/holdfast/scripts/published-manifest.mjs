import { staged } from './staged-files.mjs';

const keptFields = [
  'name',
  'version',
  'description',
  'keywords',
  'homepage',
  'bugs',
  'repository',
  'license',
  'type',
  'sideEffects',
  'engines',
];

const inLib = (path) => path.replace(/^\.\/dist\//, `./${staged.code}/`);

/**
 * The package.json as users get it: without anything that only the workspace understands, with the dependencies of the
 * internal packages that travel inside, and with the command that would clash with the workspace's own.
 */
export function publishedManifest(manifest, dependencies) {
  const kept = keptFields
    .filter((field) => manifest[field] !== undefined)
    .map((field) => [field, manifest[field]]);
  const entries = Object.entries(manifest.exports).map(([subpath, { types, default: file }]) => [
    subpath,
    { types: inLib(types), default: inLib(file) },
  ]);
  const commands = Object.entries(manifest.publishConfig.bin).map(([name, file]) => [
    name,
    inLib(file).replace('./', ''),
  ]);
  return {
    ...Object.fromEntries(kept),
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    bin: Object.fromEntries(commands),
    files: [staged.code, ...staged.texts],
    dependencies,
    ...peersOf(manifest, dependencies),
  };
}

/** Libraries that users bring themselves, if they use them; those that Holdfast brings are none. */
function peersOf({ peerDependencies = {}, peerDependenciesMeta = {} }, dependencies) {
  const names = Object.keys(peerDependencies).filter((name) => dependencies[name] === undefined);
  const only = (values) => Object.fromEntries(names.map((name) => [name, values[name]]));
  return {
    peerDependencies: only(peerDependencies),
    peerDependenciesMeta: only(peerDependenciesMeta),
  };
}
