/**
 * Keeps `npm publish` from publishing the folder: it would send the registry the package.json of the workspace, which
 * it reads again after packing, with dependencies that nobody can install. Publishing a tarball does not run this.
 */
console.error('Publish the tarball: npm pack --workspace holdfast && npm publish ./holdfast-*.tgz');
process.exitCode = 1;
