import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandError, runQuietly } from './run-command.mjs';
import { step } from './step.mjs';

/**
 * Installs exactly what the lock file of the folder says, once per lock file, Node version and platform. Returns
 * without a word when that has been done.
 */
export async function ensureDependencies(root, title) {
  const stamp = stampOf(root);
  if (readStamp(root) === stamp) return;
  if (!matchesLock(root)) {
    await step(`${title}, first run only: needs the npm registry`, () => install(root));
  }
  writeFileSync(stampFile(root), stamp);
}

const stampFile = (root) => join(root, 'node_modules', '.setup-stamp');

function stampOf(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update([process.version, process.platform, process.arch].join())
    .digest('hex');
}

function readStamp(root) {
  const file = stampFile(root);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Whether npm's own note of what it installed agrees with the lock file, as after a plain install. */
function matchesLock(root) {
  const note = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(note)) return false;
  const installed = packagesIn(note);
  const wanted = packagesIn(join(root, 'package-lock.json'));
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.includes('node_modules/') || !isNeededHere(entry)) return true;
    const found = installed[path];
    if (found === undefined) return false;
    return found.link === true || found.integrity === entry.integrity;
  });
}

const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

/** Optional packages are only needed when they are this platform's binaries. */
function isNeededHere({ optional, os, cpu, libc }) {
  if (optional !== true) return true;
  const names = (list, value) => list?.includes(value) ?? false;
  // npm tells musl from glibc by itself; those packages come in pairs and are not needed to decide.
  return libc === undefined && names(os, process.platform) && names(cpu, process.arch);
}

async function install(root) {
  const flags = ['ci', '--include=dev', '--include=optional', '--ignore-scripts'];
  flags.push('--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline');
  try {
    await runQuietly('npm ci', { ...npmCommand(flags), cwd: root });
  } catch (error) {
    if (error instanceof CommandError) error.message = explain(error.output);
    throw error;
  }
}

/** The npm that started this script, or else the one on the path. */
function npmCommand(flags) {
  const script = process.env.npm_execpath;
  if (script !== undefined && basename(script) === 'npm-cli.js') {
    return { command: process.execPath, args: [script, ...flags] };
  }
  return { command: 'npm', args: flags, shell: process.platform === 'win32' };
}

const explanations = [
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i,
    'The npm registry cannot be reached. It is needed once, for the first run. ' +
      'Behind a proxy: npm config set proxy http://…; with a mirror: npm config set registry https://…',
  ],
  [
    /E401|E403|UNABLE_TO_VERIFY|SELF_SIGNED|CERT_/i,
    'The npm registry refused the request, or its certificate is not trusted here. ' +
      'Look at `npm config get registry` and at the cafile setting of npm.',
  ],
  [/ENOSPC/, 'The disk is full; about 500 MB are needed.'],
  [/EACCES|EPERM/, 'The folder node_modules cannot be written by this account.'],
];

function explain(output) {
  const found = explanations.find(([pattern]) => pattern.test(output));
  return found?.[1] ?? 'npm could not install the dependencies; its own words are above.';
}
