import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { programPath } from './native-binaries.ts';
import { readPostmaster } from './postmaster-pid.ts';
import { serverEnvironment } from './server-environment.ts';
import type { NativeBinaries } from './native-binaries.ts';
import type { Postmaster } from './postmaster-pid.ts';
import type { ServerUser } from './server-user.ts';

const pollEveryMs = 20;
// Recovery after a crash under load can take this long on a slow disk.
const startDeadlineMs = 120_000;
const logLimitBytes = 10_000_000;
const logTailLines = 20;

/** A cluster and how to run it. */
export interface Cluster {
  readonly dataDir: string;
  readonly binaries: NativeBinaries;
  readonly user: ServerUser;
}

/** How a server is to be started: its port and its `name = value` settings. */
export interface ServerOptions {
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** How `pg_ctl` ends a server: after the last client, at once and cleanly, or as a crash would. */
export type StopMode = 'smart' | 'fast' | 'immediate';

/**
 * Starts the server and waits until it takes connections. It is detached, so that Ctrl-C in a
 * terminal does not reach it before its clients have ended their work.
 * Throws `embedded_postgres_failed_to_start` with the end of the server's log.
 */
export async function startServer(cluster: Cluster, options: ServerOptions): Promise<Postmaster> {
  const log = openLog(cluster.dataDir);
  const child = spawn(
    programPath(cluster.binaries, 'postgres'),
    serverArguments(cluster, options),
    {
      ...cluster.user,
      cwd: '/',
      env: serverEnvironment(),
      detached: true,
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  let failure: string | undefined;
  child.once('error', (error) => (failure = error.message));
  child.once('exit', (code) => (failure = `it exited with code ${code ?? 'none'}`));
  child.unref();
  // A rival's server in the same place is not the one that was started here.
  return waitUntilReady(cluster.dataDir, {
    failure: () => failure,
    accepts: ({ pid }) => pid === child.pid,
  });
}

/** What ends the wait for a server. */
export interface ReadinessWait {
  /** Why there is nothing left to wait for; undefined while there is hope. */
  readonly failure: () => string | undefined;
  /** Whether this server is the one that is waited for. */
  readonly accepts: (postmaster: Postmaster) => boolean;
}

/** Waits until the server of this data directory, whoever started it, takes connections. */
export async function waitUntilReady(dataDir: string, wait: ReadinessWait): Promise<Postmaster> {
  const deadline = performance.now() + startDeadlineMs;
  while (performance.now() < deadline) {
    const reason = wait.failure();
    if (reason !== undefined) throw startError(dataDir, reason);
    const postmaster = readPostmaster(dataDir);
    if (postmaster?.status === 'ready' && wait.accepts(postmaster)) return postmaster;
    await sleep(pollEveryMs);
  }
  throw startError(dataDir, `it was not ready after ${startDeadlineMs / 1000} seconds`);
}

/** Stops the server of this cluster and waits for its end. Does nothing when none runs. */
export async function stopServer(cluster: Cluster, mode: StopMode): Promise<void> {
  if (readPostmaster(cluster.dataDir) === undefined) return;
  const flags = ['stop', '-D', cluster.dataDir, '-m', mode, '-t', '60'];
  const child = spawn(programPath(cluster.binaries, 'pg_ctl'), flags, {
    ...cluster.user,
    cwd: '/',
    env: serverEnvironment(),
    stdio: 'ignore',
  });
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  // It may have ended by itself a moment earlier, which is all that was wanted.
  if (readPostmaster(cluster.dataDir) === undefined) return;
  throw new EmbeddedPostgresError(
    'embedded_postgres_failed_to_start',
    `PostgreSQL did not stop:\n${logTail(cluster.dataDir)}`,
  );
}

function serverArguments({ dataDir }: Cluster, { port, settings }: ServerOptions): string[] {
  const flags = ['-D', dataDir, '-p', String(port)];
  for (const [name, value] of Object.entries(settings)) flags.push('-c', `${name}=${value}`);
  return flags;
}

function openLog(dataDir: string): number {
  const file = logFileOf(dataDir);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return openSync(file, size > logLimitBytes ? 'w' : 'a', 0o600);
}

function startError(dataDir: string, reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'embedded_postgres_failed_to_start',
    `PostgreSQL did not start: ${reason}. The end of ${logFileOf(dataDir)}:\n${logTail(dataDir)}`,
  );
}

function logTail(dataDir: string): string {
  try {
    const lines = readFileSync(logFileOf(dataDir), 'utf8').trimEnd().split('\n');
    return lines.slice(-logTailLines).join('\n');
  } catch {
    return '(the log cannot be read)';
  }
}

function logFileOf(dataDir: string): string {
  return `${dataDir}.log`;
}
