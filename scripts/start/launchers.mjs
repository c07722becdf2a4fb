import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const pollEveryMs = 500;

/**
 * Calls back once when the npm that started this process, or the shell between the two, is gone.
 * npm hands a signal on to its shell, which dies of it without telling anybody.
 */
export function onLauncherGone(callback) {
  const launchers = findLaunchers();
  if (launchers.length === 0) return;
  const timer = setInterval(() => {
    if (launchers.every(isRunning)) return;
    clearInterval(timer);
    callback();
  }, pollEveryMs);
  timer.unref();
}

/** The parent and its parent, as far as they are there for this script alone: not a person's shell. */
function findLaunchers() {
  if (process.platform === 'win32' || process.env.npm_lifecycle_event === undefined) return [];
  const parent = describe(process.ppid);
  const grandparent = parent === undefined ? undefined : describe(parent.parentPid);
  return [parent, grandparent]
    .filter((found) => found !== undefined && /\bnpm\b|scripts\/start\.mjs/.test(found.command))
    .map(({ pid }) => pid);
}

function describe(pid) {
  return describeByProc(pid) ?? describeByPs(pid);
}

/** Linux; small images have no ps. */
function describeByProc(pid) {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    // After the name in brackets, which may hold anything, come the state and the parent.
    const [, parentPid] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return { pid, parentPid: Number(parentPid), command };
  } catch {
    return undefined;
  }
}

function describeByPs(pid) {
  const list = spawnSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' });
  const match = /^\s*(\d+)\s+(.*)/.exec(list.stdout ?? '');
  return match === null ? undefined : { pid, parentPid: Number(match[1]), command: match[2] };
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
