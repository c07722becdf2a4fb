import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, runsProgram } from './process-table.ts';

/** What a running server says about itself in its data directory. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** `starting` also covers recovery after a crash. */
  readonly status: 'ready' | 'starting' | 'stopping';
}

/**
 * Reads `postmaster.pid`. Undefined when no server runs there; a file left behind by a crash counts
 * as no server, and is removed when its process id now belongs to some other program, because
 * PostgreSQL would take that program for itself and refuse to start.
 */
export function readPostmaster(dataDir: string): Postmaster | undefined {
  const file = join(dataDir, 'postmaster.pid');
  const lines = readLines(file);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isRunning(pid)) return undefined;
  if (!runsProgram(pid, 'postgres')) {
    rmSync(file, { force: true });
    return undefined;
  }
  return { pid, port: Number(lines[3] ?? 0), status: statusOf(lines[7]) };
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function statusOf(line: string | undefined): Postmaster['status'] {
  const word = line?.trim();
  return word === 'ready' || word === 'stopping' ? word : 'starting';
}
