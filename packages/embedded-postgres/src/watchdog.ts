import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { programPath } from './native-binaries.ts';
import { runsProgram } from './process-table.ts';
import { serverEnvironment } from './server-environment.ts';
import type { Cluster } from './server-process.ts';

/** A helper process that stops the server when this process ends, even by SIGKILL. */
export interface Watchdog {
  /** Lets the helper go, because the server was stopped in an orderly way. */
  dismiss(): void;
}

/** Starts the helper and notes its process id beside the data directory. */
export function startWatchdog(cluster: Cluster): Watchdog {
  const script = fileURLToPath(new URL('../bin/watchdog.mjs', import.meta.url));
  const { dataDir, user } = cluster;
  const order = JSON.stringify({
    pgCtl: programPath(cluster.binaries, 'pg_ctl'),
    dataDir,
    ...user,
  });
  const child = spawn(process.execPath, [script, order], {
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  writeFileSync(watchdogFileOf(dataDir), String(child.pid), { mode: 0o600 });
  // Neither the helper nor the pipe to it may keep this process alive.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  child.stdin.on('error', () => undefined);
  return {
    dismiss() {
      child.stdin.end('x');
      if (guardOf(dataDir) === child.pid) rmSync(watchdogFileOf(dataDir), { force: true });
    },
  };
}

/** Whether a helper of some process still guards the server of this data directory. */
export function isGuarded(dataDir: string): boolean {
  const pid = guardOf(dataDir);
  return pid !== undefined && runsProgram(pid, 'watchdog.mjs');
}

function guardOf(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(watchdogFileOf(dataDir), 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function watchdogFileOf(dataDir: string): string {
  return `${dataDir}-watchdog.pid`;
}
