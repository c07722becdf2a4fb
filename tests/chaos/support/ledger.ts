import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One event of one execution, as its handler wrote it down. */
export interface LedgerEntry {
  readonly job: string;
  readonly type: string;
  readonly attempt: number;
  readonly executionSeq: number;
  readonly workerPid: number;
  /** `start`, then `end` before the handler returned, or `threw` before it failed; nothing more when it was killed. */
  readonly phase: 'start' | 'end' | 'threw';
  /** Milliseconds of the machine's monotonic clock. */
  readonly atMs: number;
}

/** Reads what the handlers of all processes wrote, in the order of time. */
export function readLedger(folder: string): readonly LedgerEntry[] {
  const entries = readdirSync(folder).flatMap((file) => readFile(join(folder, file)));
  return entries.sort((a, b) => a.atMs - b.atMs);
}

function readFile(path: string): readonly LedgerEntry[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  // Written by handlers/ledger.mjs.
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}

/** Opens a gate that handlers wait at. */
export function openGate(folder: string, gate: string): void {
  const path = join(folder, gate);
  if (!existsSync(path)) writeFileSync(path, '');
}

/** Milliseconds of the clock that the ledger uses. */
export function ledgerNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
