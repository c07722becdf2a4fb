import { readdirSync, readFileSync } from 'node:fs';

// Linux counts processor time in hundredths of a second, whatever its own clock tick is.
const ticksPerSecond = 100;

interface ProcessTimes {
  readonly parentPid: number;
  readonly ownSeconds: number;
  /** Of children that have ended. */
  readonly childrenSeconds: number;
}

/**
 * Processor seconds that a process, its living children and its ended children have used; `undefined` where the
 * system does not tell.
 */
export function familySeconds(pid: number): number | undefined {
  const parent = readTimes(pid);
  if (parent === undefined) return undefined;
  let seconds = parent.ownSeconds + parent.childrenSeconds;
  for (const entry of readdirSync('/proc')) {
    const times = /^\d+$/.test(entry) ? readTimes(Number(entry)) : undefined;
    if (times?.parentPid === pid) seconds += times.ownSeconds;
  }
  return seconds;
}

/** Megabytes of memory that a process has now and has had at most; `undefined` where the system does not tell. */
export function residentMegabytes(
  pid: number,
): { readonly now: number; readonly peak: number } | undefined {
  const status = readProc(pid, 'status');
  if (status === undefined) return undefined;
  const kilobytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN);
  return { now: kilobytes('VmRSS') / 1_024, peak: kilobytes('VmHWM') / 1_024 };
}

function readTimes(pid: number): ProcessTimes | undefined {
  const line = readProc(pid, 'stat');
  // The name in parentheses may hold spaces; the fields are counted after it, from the third on.
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const seconds = (position: number): number => Number(fields[position - 3]) / ticksPerSecond;
  return {
    parentPid: Number(fields[1]),
    ownSeconds: seconds(14) + seconds(15),
    childrenSeconds: seconds(16) + seconds(17),
  };
}

function readProc(pid: number, file: 'stat' | 'status'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
