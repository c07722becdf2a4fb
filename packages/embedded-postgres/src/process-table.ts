import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether a process with this id exists, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Whether this process runs a program whose command line contains the text. Process ids are given
 * again to others, and a dead process whose parent has not noticed yet has no command line.
 */
export function runsProgram(pid: number, text: string): boolean {
  if (!isRunning(pid)) return false;
  // Windows has no cheap way to ask; its process ids are also reused less eagerly.
  return process.platform === 'win32' || commandLineOf(pid).includes(text);
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  }
}
